import { Command, CommanderError, type OutputConfiguration } from 'commander'
import { commandName } from '../cli/command-name.ts'
import { UsageError, exitCodeAfter, runCommand } from '../cli/exit.ts'
import { io } from '../cli/io.ts'
import { withOwnName } from '../cli/other-names.ts'
import { version } from '../base/version.ts'

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
    load: async () => (await import('./login.ts')).loginCommand(),
  },
  logout: {
    group: groups.login,
    description: 'End the login of this machine',
    load: async () => (await import('./logout.ts')).logoutCommand(),
  },
  whoami: {
    group: groups.login,
    description: 'Say who this machine is logged in as',
    load: async () => (await import('./whoami.ts')).whoamiCommand(),
  },
  status: {
    group: groups.login,
    description: 'Show the server, your login, and what waits to be sent',
    load: async () => (await import('./status.ts')).statusCommand(),
  },
  devices: {
    group: groups.login,
    description: 'List your devices, add another one, or remove one',
    load: async () => (await import('./devices.ts')).devicesCommand(),
  },
  token: {
    group: groups.login,
    description: 'Print the token of your login, for scripts',
    load: async () => (await import('./token.ts')).tokenCommand(),
  },
  switch: {
    group: groups.login,
    description: 'Choose the active namespace of your login',
    load: async () => (await import('./switch.ts')).switchCommand(),
  },
  sync: {
    group: groups.sessions,
    description: 'Upload the sessions of coding agents',
    load: async () => (await import('./sync.ts')).syncCommand(),
  },
  watch: {
    description: 'Have the system upload sessions in the background',
    group: groups.sessions,
    load: async () => (await import('./watch.ts')).watchCommand(),
  },
  hooks: {
    description: 'Have Claude Code or git upload sessions when something has happened',
    group: groups.sessions,
    load: async () => (await import('./hooks.ts')).hooksCommand(),
  },
  agents: {
    group: groups.sessions,
    description: 'Show which sessions of coding agents are on this machine',
    load: async () => (await import('./agents.ts')).agentsCommand(),
  },
  ls: {
    group: groups.traces,
    description: 'List your traces, or those of a namespace',
    load: async () => (await import('./ls.ts')).lsCommand(),
  },
  show: {
    group: groups.traces,
    description: 'Show a trace with its messages',
    load: async () => (await import('./show.ts')).showCommand(),
  },
  tail: {
    group: groups.traces,
    description: 'Follow a trace, your namespace or the public feed',
    load: async () => (await import('./tail.ts')).tailCommand(),
  },
  open: {
    group: groups.traces,
    description: 'Open Tracebook in your browser, signed in as you',
    load: async () => (await import('./open.ts')).openCommand(),
  },
  export: {
    group: groups.traces,
    description: 'Write a session as Markdown, HTML or JSON',
    load: async () => (await import('./export.ts')).exportCommand(),
  },
  import: {
    group: groups.traces,
    description: 'Put back a session that was exported as JSON',
    load: async () => (await import('./import.ts')).importCommand(),
  },
  share: {
    group: groups.traces,
    description: 'Make a trace public, and print the link to it',
    load: async () => (await import('./share.ts')).shareCommand(),
  },
  unshare: {
    group: groups.traces,
    description: 'Make a trace private again',
    load: async () => (await import('./unshare.ts')).unshareCommand(),
  },
  rm: {
    group: groups.traces,
    description: 'Delete traces, and erase what they held',
    load: async () => (await import('./rm.ts')).rmCommand(),
  },
  namespaces: {
    group: groups.namespaces,
    description: 'List, make and rename namespaces',
    load: async () => (await import('./namespaces.ts')).namespacesCommand(),
  },
  members: {
    group: groups.namespaces,
    description: 'List and change the members of a namespace',
    load: async () => (await import('./members.ts')).membersCommand(),
  },
  invite: {
    group: groups.namespaces,
    description: 'Invite others to a namespace, or join one',
    load: async () => (await import('./invite.ts')).inviteCommand(),
  },
  serve: {
    group: groups.service,
    description: 'Run the service. Without DATABASE_URL it brings its own PostgreSQL, under DATA_DIR.',
    load: async () => (await import('./serve.ts')).serveCommand(),
  },
  models: {
    group: groups.service,
    description: 'The model registry, which gives models their names',
    load: async () => (await import('./models.ts')).modelsCommand(),
  },
  rebuild: {
    group: groups.service,
    description: 'Build the read models anew from the log, beside those that serve, and swap them',
    load: async () => (await import('./rebuild.ts')).rebuildCommand(),
  },
  users: {
    group: groups.service,
    description: 'List all users with what they hold, or take one out of the service',
    load: async () => (await import('./users.ts')).usersCommand(),
  },
  backup: {
    group: groups.service,
    description: 'Write a backup of the service to a file, while it serves',
    load: async () => (await import('./backup.ts')).backupCommand(),
  },
  restore: {
    group: groups.service,
    description: 'Put a backup into an empty DATA_DIR or database',
    load: async () => (await import('./restore.ts')).restoreCommand(),
  },
  log: {
    group: groups.service,
    description: 'Copy a log, scavenge it, or see to events that read models cannot apply',
    load: async () => (await import('./log.ts')).logCommand(),
  },
  audit: {
    group: groups.service,
    description: 'Look into what happened, and prove it',
    load: async () => (await import('./audit.ts')).auditCommand(),
  },
  openapi: {
    group: groups.service,
    description: 'Print the OpenAPI document of the HTTP API',
    load: async () => (await import('./openapi.ts')).openapiCommand(),
  },
  completion: {
    group: groups.shell,
    description: 'Print what completes these commands in your shell',
    load: async () => (await import('./completion.ts')).completionCommand(() => newProgram(() => true)),
  },
}

/** The command that a line calls, `help <command>` included; undefined for none, and for an unknown one. */
const calledBy = ([first = '', second = '']: readonly string[]): string | undefined => {
  const name = first === 'help' ? second : first
  return Object.hasOwn(commands, name) ? name : undefined
}

/** Where commander writes, and how wide that is. */
const output: OutputConfiguration = {
  writeOut: (text) => void io().stdout.write(text),
  writeErr: (text) => void io().stderr.write(text),
  getOutHelpWidth: () => io().stdout.columns ?? 80,
  getErrHelpWidth: () => io().stderr.columns ?? 80,
  getOutHasColors: () => io().stdout.isTTY && io().stdout.hasColors(),
  getErrHasColors: () => io().stderr.isTTY && io().stderr.hasColors(),
}

/** Has a command, and those below it, throw where commander would end the process, and say after a refusal how its help is called. */
const prepare = (command: Command, words: readonly string[]): void => {
  command
    .exitOverride()
    .configureOutput(output)
    .showHelpAfterError(`How it is used: ${[commandName, ...words].join(' ')} --help`)
  for (const below of command.commands) prepare(below, [...words, below.name()])
}

/** The program with the commands that are to be loaded; of the others it only has the names and what they are for. */
const newProgram = async (isLoaded: (name: string) => boolean): Promise<Command> => {
  const program = new Command('tracebook')
    .description('Store, share and follow the recorded sessions of AI coding agents.')
    .version(version)
    .addHelpText('after', firstSteps)
  for (const [name, { group, description, load }] of Object.entries(commands))
    program.addCommand((isLoaded(name) ? await load() : new Command(name)).description(description).helpGroup(group))
  prepare(program, [])
  return program
}

/** @throws UsageError */
const noSearch = async (): Promise<never> => {
  const [list, write] = [`${commandName} ls`, `${commandName} export --format md ID`]
  throw new UsageError(
    `There is no search yet. List your traces: ${list}; write one as a text to look through: ${write}`,
  )
}

/** Runs what a command line says, in the words behind the program's name. Its exit code is that of `io()` then. */
export const run = async (line: readonly string[]): Promise<void> => {
  const words = withOwnName(line)
  const called = calledBy(words)
  if (words[0] === 'search') return runCommand(noSearch)
  try {
    const program = await newProgram((name) => name === called)
    if (words.length > 0) await program.parseAsync(words, { from: 'user' })
    else program.outputHelp()
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    io().exitCode = exitCodeAfter(error)
  }
}
