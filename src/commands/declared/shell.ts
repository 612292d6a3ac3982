import { Argument, Command } from 'commander'
import { type MakeCommand, jsonOption, withAction } from './command.ts'
import { helpText } from './help.ts'
import type { Shell } from '../completion.ts'

const help = helpText({
  about: `
Prints a script that completes commands, options and their values in a shell. It is generated from the
commands of this version: print it again after an upgrade.`,
  examples: [
    ['tracebook completion bash >> ~/.bashrc', 'or to another file that bash reads'],
    ['tracebook completion zsh > ~/.zfunc/_tracebook', 'a folder of $fpath, before compinit'],
    ['tracebook completion fish > ~/.config/fish/completions/tracebook.fish'],
    ['tracebook completion bash --json', 'the script as a document'],
  ],
  documents: [['{"type":"completion","shell","script"}', 'the only one']],
  environment: 'No server is asked.',
  exitCodes: { 0: 'printed', 2: 'wrong usage' },
})

const completion: MakeCommand = (loadProgram) =>
  withAction(
    new Command('completion')
      .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish'] satisfies readonly Shell[]))
      .addOption(jsonOption()),
    help,
    async () => (await import('../completion.ts')).printCompletion(loadProgram),
  )

export const shellCommands = { completion }
