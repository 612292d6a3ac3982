import { commandName } from '../cli/command-name.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import type { NamespaceInfo } from '../client/api/account.ts'
import { hasStatus } from '../client/api/errors.ts'
import { readCredentials, writeCredentials } from '../client/login/credentials.ts'
import { activeIn, wasIn } from '../client/login/membership.ts'
import { NamespaceLost } from '../client/login/namespace-lost.ts'
import { type AccountAccess, openAccount } from './support/account.ts'
import type { Access } from './support/access.ts'
import type { ClientOptions } from './support/access.ts'

type Login = AccountAccess['stored']['login']

/** Stores the active namespace with the login, for commands that do not ask the server. */
const storeActive = async ({ config, server }: Access, namespace: NamespaceInfo) => {
  const stored = await readCredentials(config, server)
  if (!stored?.login) return
  await writeCredentials(config, { ...stored, login: activeIn(stored.login, namespace) })
}

const explainRefusal = (slug: string, server: string, login: Login) => (error: unknown) => {
  if (hasStatus(error, 403, 404) && wasIn(login, slug)) throw new NamespaceLost(slug)
  const yours = `To list your namespaces, run: ${commandName} namespaces --server ${server}`
  if (hasStatus(error, 403)) throw new UsageError(`You are not a member of the namespace "${slug}". ${yours}`)
  if (hasStatus(error, 404)) throw new UsageError(`There is no namespace "${slug}" at ${server}. ${yours}`)
  throw error
}

const list = async ({ account, asLogin }: AccountAccess, json: boolean | undefined) => {
  const [namespaces, { namespace: active }] = await asLogin(Promise.all([account.namespaces(), account.session()]))
  for (const namespace of namespaces) {
    const isActive = namespace.id === active?.id
    if (json) await printDocument({ type: 'namespace', active: isActive, namespace })
    else await printLines([`${isActive ? '*' : ' '} ${namespace.slug}  ${namespace.displayName} (${namespace.role})`])
  }
}

export const switchNamespace = async (access: Access, { json }: ClientOptions, name?: string): Promise<number> => {
  const opened = await openAccount(access)
  const slug = name?.trim().toLowerCase()
  if (slug === undefined) {
    await list(opened, json)
    return exitCodes.ok
  }
  const { account, asLogin, stored } = opened
  const { server } = access
  const namespace = await asLogin(account.switchTo(slug)).catch(explainRefusal(slug, server, stored.login))
  await storeActive(access, namespace)
  if (json) await printDocument({ type: 'switch', server, namespace })
  else await printLines([`The active namespace at ${server} is now ${namespace.slug} (${namespace.role}).`])
  return exitCodes.ok
}
