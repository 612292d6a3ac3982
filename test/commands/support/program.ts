import { execFileSync } from 'node:child_process'
import { Command } from 'commander'
import { join } from 'node:path'

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts')

type CommandModule = Readonly<Record<string, (loadProgram?: () => Promise<Command>) => Command>>

/** The names in the list of commands, as `tracebook --help` shows it. */
const commandNames = (): string[] => {
  const help = execFileSync(process.execPath, [main, '--help'], { encoding: 'utf8' })
  return [...help.matchAll(/^ {2}([a-z]+)(?: \[command\])? {2,}/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'help')
}

/** All commands of the command line, without what they do. */
export const loadProgram = async (): Promise<Command> => {
  const program = new Command('tracebook').exitOverride()
  for (const name of commandNames()) {
    const module = (await import(`../../../src/commands/${name}.ts`)) as CommandModule
    const [, make] = Object.entries(module).find(([exported]) => exported === `${name}Command`)!
    program.addCommand(name === 'completion' ? make(async () => program) : make())
  }
  return program
}

/** A command with the words that call it. */
export type Named = { readonly words: readonly string[]; readonly command: Command }

/** What commander keeps to itself. */
type Inside = { readonly _actionHandler: unknown; readonly _defaultCommandName: string | null | undefined }
const inside = (command: Command) => command as unknown as Inside

/** Every command that does something by itself, also below others. What is called without its own name is named by its parent's. */
export const actionsOf = (command: Command, words: readonly string[] = []): Named[] => {
  const isDefault = (one: Command) => inside(command)._defaultCommandName === one.name()
  const below = command.commands.flatMap((one) => actionsOf(one, isDefault(one) ? words : [...words, one.name()]))
  return inside(command)._actionHandler ? [{ words, command }, ...below] : below
}
