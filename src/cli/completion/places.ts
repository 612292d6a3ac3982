import type { Argument, Command, Option } from 'commander'

/** A value: one of several words, a file, or anything. */
export type Value = { readonly is: 'words'; readonly words: readonly string[] } | { readonly is: 'file' | 'anything' }

export type Word = { readonly name: string; readonly description: string }

export type OptionWords = {
  /** The spellings, such as `-n` and `--limit`. */
  readonly names: readonly string[]
  readonly description: string
  /** Undefined for an option without a value. */
  readonly value: Value | undefined
}

/** What can follow a command. */
export type Place = {
  /** The command with its parents, such as `audit log`; empty for the program itself. */
  readonly path: string
  readonly commands: readonly Word[]
  readonly options: readonly OptionWords[]
  readonly arguments: readonly Value[]
  /** The last argument may be repeated. */
  readonly isVariadic: boolean
}

const FILES = /^(file|path|bundle|folder)$/

const valueOf = (name: string, choices: readonly string[] | undefined): Value => {
  if (choices) return { is: 'words', words: choices }
  return { is: FILES.test(name) ? 'file' : 'anything' }
}

const VALUE_NAME = /[<[]([^\]>.]+)/

const optionWords = ({ short, long, description, flags, required, optional, argChoices }: Option): OptionWords => ({
  names: [short, long].filter((name) => name !== undefined),
  description,
  value: required || optional ? valueOf(VALUE_NAME.exec(flags)?.[1] ?? '', argChoices) : undefined,
})

const argumentValue = (argument: Argument): Value => valueOf(argument.name(), argument.argChoices)

const firstSentence = (text: string): string => text.split(/\.(?:\s|$)/)[0]!

/** All commands of a program, with what can follow each. */
export const placesOf = (command: Command, path = ''): Place[] => {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  const place: Place = {
    path,
    commands: commands.map((one) => ({ name: one.name(), description: firstSentence(one.description()) })),
    options: help.visibleOptions(command).map(optionWords),
    arguments: command.registeredArguments.map(argumentValue),
    isVariadic: command.registeredArguments.at(-1)?.variadic ?? false,
  }
  return [place, ...commands.flatMap((one) => placesOf(one, path === '' ? one.name() : `${path} ${one.name()}`))]
}

/** The paths of all commands. */
export const pathsOf = (places: readonly Place[]): string[] =>
  places.map(({ path }) => path).filter((path) => path !== '')

/** The options of a place that take a value. */
export const valuedOptions = ({ options }: Place): (OptionWords & { readonly value: Value })[] =>
  options.flatMap((option) => (option.value ? [{ ...option, value: option.value }] : []))

/** A text in single quotes, as bash and zsh read it. */
export const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** The pattern of a `case` of bash and zsh for each spelling of an option at a place. */
const optionPattern = (path: string, names: readonly string[]): string =>
  names.map((name) => quote(`${path}|${name}`)).join(' | ')

/** The branches of a `case` that complete the values of options. `fill` returns how a value is completed. */
export const valueCases = (places: readonly Place[], fill: (value: Value) => string): string[] =>
  places.flatMap((place) =>
    valuedOptions(place).map(
      ({ names, value }) => `    ${optionPattern(place.path, names)}) ${fill(value)}; return ;;`,
    ),
  )

/** The pattern of all options with a value, so that values are not mistaken for commands. */
export const skippedPattern = (places: readonly Place[]): string =>
  places.flatMap((place) => valuedOptions(place).map(({ names }) => optionPattern(place.path, names))).join(' | ') ||
  "''"
