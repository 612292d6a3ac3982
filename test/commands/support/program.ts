import type { Command } from 'commander'

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
