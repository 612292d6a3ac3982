import { Argument, Command } from 'commander'
import { bashScript } from '../cli/completion/bash.ts'
import { fishScript } from '../cli/completion/fish.ts'
import { type Place, placesOf } from '../cli/completion/places.ts'
import { zshScript } from '../cli/completion/zsh.ts'
import { exitCodes, runCommand } from '../cli/exit.ts'
import { printDocument } from '../cli/output.ts'
import { writeOut } from '../cli/standard-output.ts'
import { helpText } from './support/help.ts'

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}
type Shell = 'bash' | 'zsh' | 'fish'

const help = helpText({
  about: `
Prints a script that completes commands, options and their values, for one of three shells. It is made of
the commands of this version: print it again after an upgrade.`,
  examples: [
    ['tracebook completion bash >> ~/.bashrc', 'or to a file that it reads'],
    ['tracebook completion zsh > ~/.zfunc/_tracebook', 'a folder of $fpath, before compinit'],
    ['tracebook completion fish > ~/.config/fish/completions/tracebook.fish'],
    ['tracebook completion bash --json', 'the script as a document'],
  ],
  documents: [['{"type":"completion","shell","script"}', 'the only one']],
  environment: 'No server is asked.',
  exitCodes: { 0: 'printed', 2: 'wrong usage' },
})

/** `tracebook completion`: prints a script for a shell, made of the commands that `loadProgram` gives. */
export const completionCommand = (loadProgram: () => Promise<Command>): Command =>
  new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .option('--json', 'JSON on stdout, a document a line')
    .addHelpText('after', help)
    .action((shell: Shell, { json = false }: { readonly json?: boolean }) =>
      runCommand(async () => {
        const script = scripts[shell](placesOf(await loadProgram()))
        await (json ? printDocument({ type: 'completion', shell, script }) : writeOut(script))
        return exitCodes.ok
      }, json),
    )
