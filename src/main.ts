import { Command } from 'commander'
import { exitOnUsage } from './cli/exit.ts'
import { version } from './version.ts'

/** What the list of commands says of one, and its module, which is imported only when the command is called. */
type Entry = { readonly description: string; readonly load: () => Promise<Command> }

const commands: Readonly<Record<string, Entry>> = {
  serve: {
    description: 'Run the service. Without DATABASE_URL it brings its own PostgreSQL, under DATA_DIR.',
    load: async () => (await import('./commands/serve.ts')).serveCommand(),
  },
  login: {
    description: 'Log this device in to a Tracebook server',
    load: async () => (await import('./commands/login.ts')).loginCommand(),
  },
  logout: {
    description: 'End the login of this machine',
    load: async () => (await import('./commands/logout.ts')).logoutCommand(),
  },
  whoami: {
    description: 'Say who this machine is logged in as',
    load: async () => (await import('./commands/whoami.ts')).whoamiCommand(),
  },
  status: {
    description: 'Show the server, your login, and what waits to be sent',
    load: async () => (await import('./commands/status.ts')).statusCommand(),
  },
  switch: {
    description: 'Choose the active namespace of your login',
    load: async () => (await import('./commands/switch.ts')).switchCommand(),
  },
  devices: {
    description: 'List your devices, add another one, or remove one',
    load: async () => (await import('./commands/devices.ts')).devicesCommand(),
  },
  open: {
    description: 'Open Tracebook in your browser, signed in as you',
    load: async () => (await import('./commands/open.ts')).openCommand(),
  },
  token: {
    description: 'Print the token of your login, for scripts',
    load: async () => (await import('./commands/token.ts')).tokenCommand(),
  },
  sync: {
    description: 'Upload the sessions of coding agents',
    load: async () => (await import('./commands/sync.ts')).syncCommand(),
  },
  agents: {
    description: 'Show which sessions of coding agents are on this machine',
    load: async () => (await import('./commands/agents.ts')).agentsCommand(),
  },
  ls: {
    description: 'List your traces, or those of a namespace',
    load: async () => (await import('./commands/ls.ts')).lsCommand(),
  },
  show: {
    description: 'Show a trace with its messages',
    load: async () => (await import('./commands/show.ts')).showCommand(),
  },
  tail: {
    description: 'Follow a trace, your namespace or the public feed',
    load: async () => (await import('./commands/tail.ts')).tailCommand(),
  },
  export: {
    description: 'Write a session as Markdown, HTML or JSON',
    load: async () => (await import('./commands/export.ts')).exportCommand(),
  },
  import: {
    description: 'Put back a session that was exported as JSON',
    load: async () => (await import('./commands/import.ts')).importCommand(),
  },
  share: {
    description: 'Make a trace public, and print the link to it',
    load: async () => (await import('./commands/share.ts')).shareCommand(),
  },
  unshare: {
    description: 'Make a trace private again',
    load: async () => (await import('./commands/unshare.ts')).unshareCommand(),
  },
  rm: {
    description: 'Delete traces, and erase what they held',
    load: async () => (await import('./commands/rm.ts')).rmCommand(),
  },
  namespaces: {
    description: 'List, make and rename namespaces',
    load: async () => (await import('./commands/namespaces.ts')).namespacesCommand(),
  },
  members: {
    description: 'List and change the members of a namespace',
    load: async () => (await import('./commands/members.ts')).membersCommand(),
  },
  invite: {
    description: 'Invite others to a namespace, or join one',
    load: async () => (await import('./commands/invite.ts')).inviteCommand(),
  },
  models: {
    description: 'The model registry, which gives models their names',
    load: async () => (await import('./commands/models.ts')).modelsCommand(),
  },
  rebuild: {
    description: 'Build the read models anew from the log, beside those that serve, and swap them',
    load: async () => (await import('./commands/rebuild.ts')).rebuildCommand(),
  },
  log: {
    description: 'Copy a log, scavenge it, or see to events that read models cannot apply',
    load: async () => (await import('./commands/log.ts')).logCommand(),
  },
  audit: {
    description: 'Look into what happened, and prove it',
    load: async () => (await import('./commands/audit.ts')).auditCommand(),
  },
  openapi: {
    description: 'Print the OpenAPI document of the HTTP API',
    load: async () => (await import('./commands/openapi.ts')).openapiCommand(),
  },
}

/** The command that a line calls, `help <command>` included; undefined for none, and for an unknown one. */
const calledBy = ([first = '', second = '']: readonly string[]): string | undefined => {
  const name = first === 'help' ? second : first
  return Object.hasOwn(commands, name) ? name : undefined
}

const program = new Command('tracebook')
  .description('Store, share and follow the recorded sessions of AI coding agents.')
  .version(version)
  .exitOverride(exitOnUsage)

const called = calledBy(process.argv.slice(2))
for (const [name, { description, load }] of Object.entries(commands))
  program.addCommand((name === called ? await load() : new Command(name)).description(description))
await program.parseAsync()
