import { Command } from 'commander'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'
import type { ListOptions } from './run/all-namespaces.ts'
import type { CreateOptions } from './run/namespaces.ts'

const document = ['{"type":"namespace","namespace"}', 'a namespace, as the API shows it, with your role'] as const

const listHelp: Help = {
  about: `
Lists the namespaces that you are a member of. A namespace owns traces: your own one, and those of teams,
whose members read all its traces.

--all is for who runs the service: it lists every namespace with its members, traces and the
characters of their messages, the largest first, and in percent of QUOTA_TRACES and QUOTA_BYTES where
the environment has them as the service does. No API tells that, so it reads the database, like
"tracebook users": that of DATABASE_URL, else of the service that runs on DATA_DIR.`,
  examples: [
    ['tracebook namespaces'],
    ['tracebook namespaces create team --name "Our team"', 'a namespace for several people'],
    ['tracebook namespaces --json', 'for scripts'],
    ['QUOTA_BYTES=1000000000 tracebook namespaces --all', 'of the whole service'],
  ],
  documents: [
    document,
    ['{"type":"usage","namespace","members","traces","bytes"}', 'with --all; traces: {used, quota?, percent?}'],
  ],
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

const createCommand = (): Command =>
  clientCommand<CreateOptions, [string]>(
    new Command('create')
      .description('Make a namespace for several people')
      .argument('<slug>', 'its name in addresses')
      .option('--name <name>', 'the name that people see (default: the slug)')
      .option('--description <text>', 'what it is for'),
    {
      help: createHelp,
      namespace: false,
      run: async (...args) => (await import('./run/namespaces.ts')).create(...args),
    },
  )

const renameCommand = (): Command =>
  clientCommand<ClientOptions, [string, string]>(
    new Command('rename')
      .description('Change the name that people see')
      .argument('<slug>', 'the namespace')
      .argument('<name>', 'its name from now on'),
    {
      help: renameHelp,
      namespace: false,
      run: async (...args) => (await import('./run/namespaces.ts')).rename(...args),
    },
  )

/** `tracebook namespaces`: lists, makes and renames namespaces. Output and exit codes in its help. */
export const namespacesCommand = (): Command =>
  clientCommand<ListOptions>(
    new Command('namespaces').option('--all', 'every namespace, from the database of the service: for its operators'),
    {
      help: listHelp,
      namespace: false,
      run: async (access, options) =>
        options.all
          ? (await import('./run/all-namespaces.ts')).listAll(options)
          : (await import('./run/namespaces.ts')).list(access, options),
    },
  )
    .addCommand(createCommand())
    .addCommand(renameCommand())
