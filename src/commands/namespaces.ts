import { Command } from 'commander'
import { commandName } from '../cli/command-name.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { tableLines } from '../cli/table.ts'
import { hasStatus } from '../sync/api/errors.ts'
import type { NamespaceInfo } from '../sync/api/namespaces.ts'
import type { Access } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'
import { explained, openNamespace } from './support/namespace-access.ts'

const document = ['{"type":"namespace","namespace"}', 'a namespace, as the API shows it, with your role'] as const

const listHelp: Help = {
  about: `
Lists the namespaces that you are a member of. A namespace owns traces: your own one, and those of teams,
whose members read all its traces.`,
  examples: [
    ['tracebook namespaces'],
    ['tracebook namespaces create team --name "Our team"', 'a namespace for several people'],
    ['tracebook namespaces --json', 'for scripts'],
  ],
  documents: [document],
}

const createHelp: Help = {
  about: `
Makes a namespace for several people, and you its admin. The slug is its name in addresses and in
--namespace: up to 64 small letters, digits and single hyphens; it cannot be changed later.`,
  examples: [
    ['tracebook namespaces create team --name "Our team"'],
    ['tracebook namespaces create team --json', 'for scripts'],
  ],
  documents: [document],
}

const renameHelp: Help = {
  about: `
Changes the name that people see, for the admins of the namespace. The slug, which stands in addresses,
stays as it is.`,
  examples: [
    ['tracebook namespaces rename team "Our team"'],
    ['tracebook namespaces rename team "Our team" --json', 'for scripts'],
  ],
  documents: [document],
}

const list = async (access: Access, options: ClientOptions): Promise<number> => {
  const { client, slug } = await openNamespace(access)
  const namespaces = await client.namespaces()
  if (options.json) for (const namespace of namespaces) await printDocument({ type: 'namespace', namespace })
  else {
    const columns = [
      { head: '', cell: (namespace: NamespaceInfo) => (namespace.slug === slug ? '*' : '') },
      { head: 'slug', cell: (namespace: NamespaceInfo) => namespace.slug },
      { head: 'name', cell: ({ displayName }: NamespaceInfo) => displayName, min: 8 },
      { head: 'type', cell: ({ type }: NamespaceInfo) => type, drop: 1 },
      { head: 'role', cell: ({ role }: NamespaceInfo) => role },
    ]
    await printLines(tableLines(columns, namespaces, process.stdout.columns))
    if (process.stdout.isTTY) say('*: the namespace of your login')
  }
  return exitCodes.ok
}

type CreateOptions = ClientOptions & { readonly name?: string; readonly description?: string }

const create = async (access: Access, options: CreateOptions, slug: string): Promise<number> => {
  const { client } = await openNamespace(access)
  const { name: displayName = slug, description } = options
  const body = { slug, displayName, ...(description === undefined ? {} : { description }) }
  const namespace = await client.create(body).catch((error: unknown) => {
    if (hasStatus(error, 400)) throw new UsageError(`"${slug}" cannot be the slug of a namespace: ${error.message}`)
    throw error
  })
  if (options.json) await printDocument({ type: 'namespace', namespace })
  else {
    await printLines([`The namespace "${namespace.slug}" is there, and you are its admin.`])
    say(`Invite others: ${commandName} invite --namespace ${namespace.slug}`)
  }
  return exitCodes.ok
}

const rename = async (access: Access, options: ClientOptions, slug: string, displayName: string): Promise<number> => {
  const { server, client } = await openNamespace(access)
  const namespace = await client.update(slug, { displayName }).catch(explained({ server, slug }, 'change the name'))
  if (options.json) await printDocument({ type: 'namespace', namespace })
  else await printLines([`The namespace "${namespace.slug}" is called ${namespace.displayName} now.`])
  return exitCodes.ok
}

const createCommand = (): Command =>
  clientCommand<CreateOptions, [string]>(
    new Command('create')
      .description('Make a namespace for several people')
      .argument('<slug>', 'its name in addresses')
      .option('--name <name>', 'the name that people see (default: the slug)')
      .option('--description <text>', 'what it is for'),
    { help: createHelp, namespace: false, run: create },
  )

const renameCommand = (): Command =>
  clientCommand<ClientOptions, [string, string]>(
    new Command('rename')
      .description('Change the name that people see')
      .argument('<slug>', 'the namespace')
      .argument('<name>', 'its name from now on'),
    { help: renameHelp, namespace: false, run: rename },
  )

/** `tracebook namespaces`: lists, makes and renames namespaces. Output and exit codes in its help. */
export const namespacesCommand = (): Command =>
  clientCommand<ClientOptions>(new Command('namespaces'), {
    help: listHelp,
    namespace: false,
    run: list,
  })
    .addCommand(createCommand())
    .addCommand(renameCommand())
