import type { Command } from 'commander'

/** A command, and the words by which it is called. */
export type Named = { readonly words: readonly string[]; readonly command: Command }

/** Private fields of commander. */
type Inside = { readonly _actionHandler: unknown; readonly _defaultCommandName: string | null | undefined }
const inside = (command: Command) => command as unknown as Inside

/** Every command with an action, also subcommands. A default subcommand has the name of its parent. */
export const actionsOf = (command: Command, words: readonly string[] = []): Named[] => {
  const isDefault = (one: Command) => inside(command)._defaultCommandName === one.name()
  const below = command.commands.flatMap((one) => actionsOf(one, isDefault(one) ? words : [...words, one.name()]))
  return inside(command)._actionHandler ? [{ words, command }, ...below] : below
}
