import { type Command, Option } from 'commander'
import { runCommand } from '../../cli/exit.ts'
import type { Access, ClientOptions } from '../support/access.ts'
import { type Help, helpText } from './help.ts'

/** Makes a command; completion is made of the whole program. */
export type MakeCommand = (loadProgram: () => Promise<Command>) => Command

/** What a command does: gets its options and arguments, and returns the exit code. */
type Run<Options, Args extends readonly unknown[]> = (options: Options, ...args: Args) => Promise<number>

/** Gives a command its help and its action. `load` imports what the command does; it is called only when the command runs. */
export const withAction = <Options extends object, Args extends readonly unknown[]>(
  command: Command,
  help: string,
  load: () => Promise<Run<Options, Args>>,
): Command =>
  command.addHelpText('after', help).action(function (this: Command) {
    // Commander assigns an option that the parent also has to the parent, even after the name of the subcommand.
    const options = this.optsWithGlobals<Options & { readonly json?: boolean }>()
    return runCommand(
      async () => (await load())(options, ...(this.processedArgs as unknown as Args)),
      options.json ?? false,
    )
  })

export const serverOption = (): Option =>
  new Option('--server <url>', 'the server (default: $TRACEBOOK_URL, else that of the last login)')

const namespaceOption = (what = 'the namespace (default: that of your login)'): Option =>
  new Option('--namespace <slug>', what)

export const jsonOption = (): Option => new Option('--json', 'print JSON on stdout, one document per line')

export const yesOption = (): Option => new Option('-y, --yes', 'confirm without being asked')

type ClientCommand<Options extends ClientOptions, Args extends readonly unknown[]> = {
  readonly help: Help
  /** What --namespace means; false if the command takes none. */
  readonly namespace?: string | false
  readonly load: () => Promise<(access: Access, options: Options, ...args: Args) => Promise<number>>
}

/** Gives a command, with its own arguments and options, those that all client commands have, its help and its action. */
export const clientCommand = <Options extends ClientOptions, Args extends readonly unknown[]>(
  command: Command,
  { help, namespace, load }: ClientCommand<Options, Args>,
): Command => {
  if (namespace !== false) command.addOption(namespaceOption(namespace))
  command.addOption(serverOption()).addOption(jsonOption())
  return withAction<Options, Args>(command, helpText(help), async () => {
    const { openAccess } = await import('../support/access.ts')
    const run = await load()
    return (options, ...args) => run(openAccess(options), options, ...args)
  })
}
