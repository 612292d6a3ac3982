import { Command } from 'commander'
import { commandName } from './cli/command-name.ts'
import { UsageError, exitOnUsage, runCommand } from './cli/exit.ts'
import { withOwnName } from './cli/other-names.ts'
import { forgiveLeftReader } from './cli/standard-output.ts'
import { version } from './version.ts'

/** What the list of commands says of one, and its module, which is imported only when the command is called. */
type Entry = {
  readonly group: string
  readonly description: string

  readonly load: () => Promise<Command>
}

const groups = {
  login: 'Your login:',
  sessions: 'Your sessions:',
  traces: 'Traces:',
  namespaces: 'Namespaces:',
  service: 'The service:',
  shell: 'Your shell:',
} as const

const firstSteps = `
First steps:
  ${commandName} serve  # run a service, if you have none
  ${commandName} login  # make this machine known to it
  ${commandName} sync   # upload the sessions of your agents
  ${commandName} ls     # see them

${commandName} <command> --help teaches each by example.`

const commands: Readonly<Record<string, Entry>> = {
  login: {
    group: groups.login,
    description: 'Log this device in to a Tracebook server',
    load: async () => (await import('./commands/login.ts')).loginCommand(),
  },
  logout: {
    group: groups.login,
    description: 'End the login of this machine',
    load: async () => (await import('./commands/logout.ts')).logoutCommand(),
  },
  whoami: {
    group: groups.login,
    description: 'Say who this machine is logged in as',
    load: async () => (await import('./commands/whoami.ts')).whoamiCommand(),
  },
  status: {
    group: groups.login,
    description: 'Show the server, your login, and what waits to be sent',
    load: async () => (await import('./commands/status.ts')).statusCommand(),
  },
  devices: {
    group: groups.login,
    description: 'List your devices, add another one, or remove one',
    load: async () => (await import('./commands/devices.ts')).devicesCommand(),
  },
  token: {
    group: groups.login,
    description: 'Print the token of your login, for scripts',
    load: async () => (await import('./commands/token.ts')).tokenCommand(),
  },
  switch: {
    group: groups.login,
    description: 'Choose the active namespace of your login',
    load: async () => (await import('./commands/switch.ts')).switchCommand(),
  },
  sync: {
    group: groups.sessions,
    description: 'Upload the sessions of coding agents',
    load: async () => (await import('./commands/sync.ts')).syncCommand(),
  },
  watch: {
    description: 'Have the system upload sessions in the background',
    group: groups.sessions,
    load: async () => (await import('./commands/watch.ts')).watchCommand(),
  },
  hooks: {
    description: 'Have Claude Code or git upload sessions when something has happened',
    group: groups.sessions,
    load: async () => (await import('./commands/hooks.ts')).hooksCommand(),
  },
  agents: {
    group: groups.sessions,
    description: 'Show which sessions of coding agents are on this machine',
    load: async () => (await import('./commands/agents.ts')).agentsCommand(),
  },
  ls: {
    group: groups.traces,
    description: 'List your traces, or those of a namespace',
    load: async () => (await import('./commands/ls.ts')).lsCommand(),
  },
  show: {
    group: groups.traces,
    description: 'Show a trace with its messages',
    load: async () => (await import('./commands/show.ts')).showCommand(),
  },
  tail: {
    group: groups.traces,
    description: 'Follow a trace, your namespace or the public feed',
    load: async () => (await import('./commands/tail.ts')).tailCommand(),
  },
  open: {
    group: groups.traces,
    description: 'Open Tracebook in your browser, signed in as you',
    load: async () => (await import('./commands/open.ts')).openCommand(),
  },
  export: {
    group: groups.traces,
    description: 'Write a session as Markdown, HTML or JSON',
    load: async () => (await import('./commands/export.ts')).exportCommand(),
  },
  import: {
    group: groups.traces,
    description: 'Put back a session that was exported as JSON',
    load: async () => (await import('./commands/import.ts')).importCommand(),
  },
  share: {
    group: groups.traces,
    description: 'Make a trace public, and print the link to it',
    load: async () => (await import('./commands/share.ts')).shareCommand(),
  },
  unshare: {
    group: groups.traces,
    description: 'Make a trace private again',
    load: async () => (await import('./commands/unshare.ts')).unshareCommand(),
  },
  rm: {
    group: groups.traces,
    description: 'Delete traces, and erase what they held',
    load: async () => (await import('./commands/rm.ts')).rmCommand(),
  },
  namespaces: {
    group: groups.namespaces,
    description: 'List, make and rename namespaces',
    load: async () => (await import('./commands/namespaces.ts')).namespacesCommand(),
  },
  members: {
    group: groups.namespaces,
    description: 'List and change the members of a namespace',
    load: async () => (await import('./commands/members.ts')).membersCommand(),
  },
  invite: {
    group: groups.namespaces,
    description: 'Invite others to a namespace, or join one',
    load: async () => (await import('./commands/invite.ts')).inviteCommand(),
  },
  serve: {
    group: groups.service,
    description: 'Run the service. Without DATABASE_URL it brings its own PostgreSQL, under DATA_DIR.',
    load: async () => (await import('./commands/serve.ts')).serveCommand(),
  },
  models: {
    group: groups.service,
    description: 'The model registry, which gives models their names',
    load: async () => (await import('./commands/models.ts')).modelsCommand(),
  },
  rebuild: {
    group: groups.service,
    description: 'Build the read models anew from the log, beside those that serve, and swap them',
    load: async () => (await import('./commands/rebuild.ts')).rebuildCommand(),
  },
  users: {
    group: groups.service,
    description: 'List all users with what they hold, or take one out of the service',
    load: async () => (await import('./commands/users.ts')).usersCommand(),
  },
  backup: {
    group: groups.service,
    description: 'Write a backup of the service to a file, while it serves',
    load: async () => (await import('./commands/backup.ts')).backupCommand(),
  },
  restore: {
    group: groups.service,
    description: 'Put a backup into an empty DATA_DIR or database',
    load: async () => (await import('./commands/restore.ts')).restoreCommand(),
  },
  log: {
    group: groups.service,
    description: 'Copy a log, scavenge it, or see to events that read models cannot apply',
    load: async () => (await import('./commands/log.ts')).logCommand(),
  },
  audit: {
    group: groups.service,
    description: 'Look into what happened, and prove it',
    load: async () => (await import('./commands/audit.ts')).auditCommand(),
  },
  openapi: {
    group: groups.service,
    description: 'Print the OpenAPI document of the HTTP API',
    load: async () => (await import('./commands/openapi.ts')).openapiCommand(),
  },
  completion: {
    group: groups.shell,
    description: 'Print what completes these commands in your shell',
    load: async () => (await import('./commands/completion.ts')).completionCommand(() => newProgram(() => true)),
  },
}

/** The command that a line calls, `help <command>` included; undefined for none, and for an unknown one. */
const calledBy = ([first = '', second = '']: readonly string[]): string | undefined => {
  const name = first === 'help' ? second : first
  return Object.hasOwn(commands, name) ? name : undefined
}

/** Has a command, and those below it, say after a refusal of its arguments how its help is called. */
const hintAtHelp = (command: Command, words: readonly string[]): void => {
  command.showHelpAfterError(`How it is used: ${[commandName, ...words].join(' ')} --help`)
  for (const below of command.commands) hintAtHelp(below, [...words, below.name()])
}

/** The program with the commands that are to be loaded; of the others it only has the names and what they are for. */
const newProgram = async (isLoaded: (name: string) => boolean): Promise<Command> => {
  const program = new Command('tracebook')
    .description('Store, share and follow the recorded sessions of AI coding agents.')
    .version(version)
    .exitOverride(exitOnUsage)
    .addHelpText('after', firstSteps)
  for (const [name, { group, description, load }] of Object.entries(commands))
    program.addCommand((isLoaded(name) ? await load() : new Command(name)).description(description).helpGroup(group))
  hintAtHelp(program, [])
  return program
}

/** @throws UsageError */
const noSearch = async (): Promise<never> => {
  const [list, write] = [`${commandName} ls`, `${commandName} export --format md ID`]
  throw new UsageError(
    `There is no search yet. List your traces: ${list}; write one as a text to look through: ${write}`,
  )
}

process.stdout.on('error', forgiveLeftReader)
const words = withOwnName(process.argv.slice(2))
const called = calledBy(words)
const program = await newProgram((name) => name === called)
if (words[0] === 'search') await runCommand(noSearch)
else if (words.length > 0) await program.parseAsync(words, { from: 'user' })
else program.outputHelp()
