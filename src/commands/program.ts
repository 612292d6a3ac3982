import { Command, CommanderError, type OutputConfiguration } from 'commander'
import { commandName } from '../cli/command-name.ts'
import { exitCodeAfter } from '../cli/exit.ts'
import { io, widthOf } from '../cli/io.ts'
import { withOwnName } from '../cli/other-names.ts'
import { version } from '../base/version.ts'
import type { MakeCommand } from './declared/command.ts'

/** Commands that the list shows below a heading, each with what it says of it. They are imported when one of them is called. */
type Group = {
  readonly heading: string
  /** Whether they work on the service itself, so that the client that it hands out lacks them. */
  readonly isOfService: boolean
  readonly descriptions: Readonly<Record<string, string>>
  readonly load: () => Promise<Readonly<Record<string, MakeCommand>>>
}

const group = <Name extends string>(
  heading: string,
  load: () => Promise<Readonly<Record<Name, MakeCommand>>>,
  descriptions: Readonly<Record<NoInfer<Name>, string>>,
  isOfService = false,
): Group => ({ heading, load, descriptions, isOfService })

/** Set where the client is bundled alone (`server/pages/client-package.ts`). */
declare const CLIENT_ONLY: true | undefined
const isClientOnly = typeof CLIENT_ONLY !== 'undefined'

const groups: readonly Group[] = [
  group('Your login:', async () => (await import('./declared/login.ts')).loginCommands, {
    login: 'Log this device in to a Tracebook server',
    logout: 'End the login of this machine',
    whoami: 'Show who this machine is logged in as',
    status: 'Show the server, your login, and unsent sessions',
    token: 'Print the token of your login, for scripts',
    switch: 'Change the active namespace of your login',
  }),
  group('Your login:', async () => (await import('./declared/devices.ts')).deviceCommands, {
    devices: 'List your devices, add another one, or remove one',
  }),
  group('Your sessions:', async () => (await import('./declared/sessions.ts')).sessionCommands, {
    sync: 'Upload the sessions of coding agents',
    watch: 'Have the system upload sessions in the background',
    hooks: 'Have Claude Code or git upload sessions by a hook',
    agents: 'Show which sessions of coding agents are on this machine',
  }),
  group('Traces:', async () => (await import('./declared/traces.ts')).traceCommands, {
    ls: 'List your traces, or those of a namespace',
    search: 'Find sessions and messages by words',
    show: 'Show a trace with its messages',
    usage: 'Add up what sessions have used and cost',
    tail: 'Follow a trace, your namespace or the public feed',
    open: 'Open Tracebook in your browser, signed in as you',
    resume: 'Go on with a session, also one of a colleague',
    export: 'Write a session as Markdown, HTML or JSON',
    import: 'Import a session that was exported as JSON',
    share: 'Make a trace public, and print its link',
    unshare: 'Make a trace private again',
    move: 'Move a trace to another namespace of yours',
    rm: 'Delete traces, or only their past, for good',
    redact: 'Remove secrets from a trace that is uploaded',
  }),
  group('Lines and commits:', async () => (await import('./declared/attribution.ts')).attributionCommands, {
    blame: 'Show which session wrote each line of a file',
    why: 'Show the prompt and the call that wrote a line',
    commits: 'Show which sessions wrote the lines of commits',
    pr: 'Describe the sessions of a branch in Markdown',
  }),
  group('Traces:', async () => (await import('./declared/mcp.ts')).mcpCommands, {
    mcp: 'Let agents read sessions by the Model Context Protocol',
  }),
  group('Namespaces:', async () => (await import('./declared/namespaces.ts')).namespaceCommands, {
    namespaces: 'List, create and rename namespaces',
    members: 'List and change the members of a namespace',
    invite: 'Invite others to a namespace, or join one',
  }),
  group(
    'The service:',
    async () => (await import('./declared/service.ts')).serviceCommands,
    {
      serve: 'Run the service. Without DATABASE_URL it starts its own PostgreSQL, in DATA_DIR.',
      models: 'The model registry, which gives models their names',
      rebuild: 'Build new read models from the log, then swap them',
      users: 'List all users, or remove one from the service',
      backup: 'Write a backup of the running service to a file',
      restore: 'Restore a backup into an empty DATA_DIR or database',
      doctor: 'Show what the service takes, and what ends first, and when',
      openapi: 'Print the OpenAPI document of the HTTP API',
    },
    true,
  ),
  group(
    'The service:',
    async () => (await import('./declared/log.ts')).logCommands,
    {
      log: 'Copy a log, or handle events that cannot be applied',
    },
    true,
  ),
  group('The service:', async () => (await import('./declared/audit.ts')).auditCommands, {
    audit: 'Show who did what, and prove it',
  }),
  group('Your shell:', async () => (await import('./declared/shell.ts')).shellCommands, {
    completion: 'Print a script that completes these commands in your shell',
  }),
]

const firstSteps = `
First steps:${isClientOnly ? '' : `\n  ${commandName} serve  # run a service, if you have none`}
  ${commandName} login  # log in to it from this machine
  ${commandName} sync   # upload the sessions of your agents
  ${commandName} ls     # list them

${commandName} <command> --help shows examples of each.`

/** The command that a line calls, `help <command>` included. */
const calledBy = ([first = '', second = '']: readonly string[]): string => (first === 'help' ? second : first)

/** Where commander writes, and how wide that is. */
const output: OutputConfiguration = {
  writeOut: (text) => void io().stdout.write(text),
  writeErr: (text) => void io().stderr.write(text),
  getOutHelpWidth: () => widthOf(io().stdout) ?? 80,
  getErrHelpWidth: () => widthOf(io().stderr) ?? 80,
  getOutHasColors: () => io().stdout.isTTY && io().stdout.hasColors(),
  getErrHasColors: () => io().stderr.isTTY && io().stderr.hasColors(),
}

/** Makes a command and its subcommands throw instead of ending the process, and refer to their help after a usage error. */
const prepare = (command: Command, words: readonly string[]): void => {
  command
    .exitOverride()
    .configureOutput(output)
    .showHelpAfterError(`For usage, run: ${[commandName, ...words].join(' ')} --help`)
  for (const subcommand of command.commands) prepare(subcommand, [...words, subcommand.name()])
}

/** The program. Commands that are not loaded have only their names and descriptions. */
const newProgram = async (isLoaded: (name: string) => boolean): Promise<Command> => {
  const program = new Command('tracebook')
    .description('Store, share and follow the recorded sessions of AI coding agents.')
    .version(version)
    .addHelpText('after', firstSteps)
  for (const { heading, descriptions, load, isOfService } of groups)
    for (const [name, description] of Object.entries(descriptions)) {
      const command = isLoaded(name) ? (await load())[name]!(loadProgram) : new Command(name)
      const hidden = isClientOnly && isOfService
      program.addCommand(command.description(description).helpGroup(heading), { hidden })
    }
  prepare(program, [])
  return program
}

/** The program with all commands. */
export const loadProgram = (): Promise<Command> => newProgram(() => true)

/** Runs a command line, given as the words after the program's name. Sets the exit code of `io()`. */
export const run = async (line: readonly string[]): Promise<void> => {
  const words = withOwnName(line)
  const called = calledBy(words)
  try {
    const program = await newProgram((name) => name === called)
    if (words.length > 0) await program.parseAsync(words, { from: 'user' })
    else program.outputHelp()
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    io().exitCode = exitCodeAfter(error)
  }
}
