import type { ApiClient } from '../api/client.ts'
import { hasStatus } from '../api/errors.ts'
import { type Credentials, readCredentials, writeCredentials } from './credentials.ts'
import { noLongerIn } from './namespace-lost.ts'

type Login = NonNullable<Credentials['login']>
type Named = { readonly id: string; readonly slug: string }

/** Whether the user has been a member of a namespace, as this machine has seen. */
export const wasIn = ({ namespaceSlug, memberOf = [] }: Login, slug: string): boolean =>
  slug === namespaceSlug || memberOf.includes(slug)

/** The same login, active in another namespace. */
export const activeIn = ({ lost: _, ...login }: Login, { id, slug }: Named): Login => ({
  ...login,
  namespaceId: id,
  namespaceSlug: slug,
  memberOf: [...new Set([...(login.memberOf ?? []), login.namespaceSlug])],
})

/** Notes that the user is a member of a namespace. */
export const rememberMembership = async (config: string, server: string, slug: string): Promise<void> => {
  const stored = await readCredentials(config, server)
  if (!stored?.login || wasIn(stored.login, slug)) return
  const memberOf = [...(stored.login.memberOf ?? []), slug]
  await writeCredentials(config, { ...stored, login: { ...stored.login, memberOf } })
}

/** Whether the user is a member of a namespace, which need not exist any more. Throws RequestFailed. */
export const isMemberOf = async (api: Pick<ApiClient, 'namespace'>, slug: string): Promise<boolean> => {
  try {
    return (await api.namespace(slug)).role !== undefined
  } catch (error) {
    if (hasStatus(error, 404)) return false
    throw error
  }
}

/** Tells that the user was removed from the namespace of the login. Returns whether the user reads it: if not, the next command tells it. */
export type TellLoss = (message: string) => boolean

type Present = Named & { readonly isOwn: boolean }

/**
 * Compares the namespace in which the login was active last with the present one, and tells once if the user was removed from it.
 * Returns its slug as long as the login goes on in a namespace of other people, which the user has not chosen. Throws RequestFailed.
 */
export const followNamespace = async (
  config: string,
  { server, login }: { readonly server: string; readonly login: Login },
  api: Pick<ApiClient, 'namespace'>,
  { id, slug, isOwn }: Present,
  tell: TellLoss,
): Promise<string | undefined> => {
  if (login.namespaceId === id) return login.lost
  const isLost = !(await isMemberOf(api, login.namespaceSlug))
  const lost = isLost && !isOwn ? login.namespaceSlug : undefined
  const isRead = !isLost || tell(`${noLongerIn(login.namespaceSlug)}: going on in @${slug}`)
  const stored = isRead ? await readCredentials(config, server) : undefined
  if (stored?.login) {
    const next = activeIn(stored.login, { id, slug })
    await writeCredentials(config, { ...stored, login: lost === undefined ? next : { ...next, lost } })
  }
  return lost
}
