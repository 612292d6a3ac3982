import { Command } from 'commander'
import { commandName } from '../cli/command-name.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import type { NamespaceInfo } from '../sync/api/account.ts'
import { hasStatus } from '../sync/api/errors.ts'
import { readCredentials, writeCredentials } from '../sync/login/credentials.ts'
import { type AccountAccess, openAccount } from './support/account.ts'
import type { Access } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Makes another namespace the active one of your login: what you sync from now on goes there, and your lists
show it. What was uploaded stays where it is. Without a namespace: lists those that you are a member of,
the active one with a star. For one command --namespace does the same without switching.`,
  examples: [['tracebook switch', 'what there is'], ['tracebook switch my-team']],
  documents: [
    ['{"type":"switch","server","namespace"}', 'the namespace that is active now'],
    ['{"type":"namespace","active","namespace"}', 'without a namespace: for each'],
  ],
}

/** The login's own note of its namespace, which is read where the server is not asked. */
const storeActive = async ({ config, server }: Access, { id, slug }: NamespaceInfo) => {
  const stored = await readCredentials(config, server)
  if (!stored?.login) return
  await writeCredentials(config, { ...stored, login: { ...stored.login, namespaceId: id, namespaceSlug: slug } })
}

const explainRefusal = (slug: string, server: string) => (error: unknown) => {
  const yours = `Yours are listed by: ${commandName} switch --server ${server}`
  if (hasStatus(error, 403)) throw new UsageError(`You are no member of the namespace "${slug}". ${yours}`)
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

const switchNamespace = async (access: Access, { json }: ClientOptions, name?: string): Promise<number> => {
  const opened = await openAccount(access)
  const slug = name?.trim().toLowerCase()
  if (slug === undefined) {
    await list(opened, json)
    return exitCodes.ok
  }
  const { account, asLogin } = opened
  const { server } = access
  const namespace = await asLogin(account.switchTo(slug)).catch(explainRefusal(slug, server))
  await storeActive(access, namespace)
  if (json) await printDocument({ type: 'switch', server, namespace })
  else await printLines([`Active namespace at ${server}: ${namespace.slug} (${namespace.role}).`])
  return exitCodes.ok
}

/** `tracebook switch`: chooses the active namespace of the login. Output and exit codes in its help. */
export const switchCommand = (): Command =>
  clientCommand<ClientOptions, [string | undefined]>(
    new Command('switch').argument('[namespace]', 'the slug of the namespace'),
    { help, namespace: false, run: switchNamespace },
  )
