import { type Place, type Value, quote, valuedOptions } from './places.ts'

/** The pattern of a `case` of bash and zsh for each spelling of an option at a place. */
const optionPattern = (path: string, names: readonly string[]): string =>
  names.map((name) => quote(`${path}|${name}`)).join(' | ')

/** The branches of a `case` that complete the values of options. `fill` says how a value is completed. */
export const valueCases = (places: readonly Place[], fill: (value: Value) => string): string[] =>
  places.flatMap((place) =>
    valuedOptions(place).map(
      ({ names, value }) => `    ${optionPattern(place.path, names)}) ${fill(value)}; return ;;`,
    ),
  )

/** The pattern of all options with a value, whose values are not taken for commands. */
export const skippedPattern = (places: readonly Place[]): string =>
  places.flatMap((place) => valuedOptions(place).map(({ names }) => optionPattern(place.path, names))).join(' | ') ||
  "''"
