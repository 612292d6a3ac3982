import { type Command, Option } from 'commander'
import { runCommand } from '../../cli/exit.ts'
import type { Access } from './access.ts'
import { type Help, helpText } from './help.ts'

/** The options that client commands share; `namespace` only where a command takes it. */
export type ClientOptions = { readonly server?: string; readonly namespace?: string; readonly json?: boolean }

export const serverOption = (): Option =>
  new Option('--server <url>', 'the server (default: $TRACEBOOK_URL, else that of the last login)')

export const namespaceOption = (what = 'the namespace (default: the one of your login)'): Option =>
  new Option('--namespace <slug>', what)

export const jsonOption = (): Option => new Option('--json', 'JSON on stdout, a document a line')

type ClientCommand<Options extends ClientOptions, Args extends readonly unknown[]> = {
  readonly help: Help
  /** What --namespace means; false where the command takes none. */
  readonly namespace?: string | false
  /** Returns the exit code. What it throws is told as `runCommand` does. */
  readonly run: (access: Access, options: Options, ...args: Args) => Promise<number>
}

/** Gives a command, with its own arguments and options, those that client commands share, its help and its action. */
export const clientCommand = <Options extends ClientOptions, Args extends readonly unknown[] = []>(
  command: Command,
  { help, namespace, run }: ClientCommand<Options, Args>,
): Command => {
  if (namespace !== false) command.addOption(namespaceOption(namespace))
  return command
    .addOption(serverOption())
    .addOption(jsonOption())
    .addHelpText('after', helpText(help))
    .action(function (this: Command) {
      // A command takes options of its parent too: they are found there when they stand behind the name of the command.
      const options = this.optsWithGlobals<Options>()
      return runCommand(
        async () =>
          run((await import('./access.ts')).openAccess(options), options, ...(this.processedArgs as unknown as Args)),
        options.json,
      )
    })
}
