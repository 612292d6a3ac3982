import { UsageError } from '../../cli/exit.ts'
import { hasStatus } from '../../sync/api/errors.ts'
import { type NamespacesClient, newNamespacesClient } from '../../sync/api/namespaces.ts'
import { type Access, noticedTiming, openAccess } from './access.ts'

/** A namespace, and the client to change it with. */
export type NamespaceAccess = {
  readonly server: string
  readonly slug: string
  readonly client: NamespacesClient
}

/** The namespace that the user has named, else that of the login. @throws UsageError without a login, RequestFailed */
export const openNamespace = async ({ server, namespace }: Access): Promise<NamespaceAccess> => {
  const { token, namespaceSlug } = await openAccess({ server }).connect()
  const slug = namespace?.trim().toLowerCase() ?? namespaceSlug
  return { server, slug, client: newNamespacesClient(server, token, noticedTiming) }
}

/** What a refusal means; `act` is what only members or admins may do. @throws UsageError, Error; any other error as it is */
export const explained =
  ({ server, slug }: Pick<NamespaceAccess, 'server' | 'slug'>, act: string) =>
  (error: unknown): never => {
    if (hasStatus(error, 404)) throw new UsageError(`There is no namespace "${slug}" at ${server}.`)
    if (hasStatus(error, 403))
      throw new Error(`You may not ${act} in the namespace "${slug}": ${error.message}. Ask one of its admins.`, {
        cause: error,
      })
    if (hasStatus(error, 409))
      throw new Error(`${error.message}. Make another member an admin of "${slug}" first.`, { cause: error })
    throw error
  }
