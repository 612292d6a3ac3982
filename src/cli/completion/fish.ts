import { type OptionWords, type Place, type Value, pathsOf, valuedOptions } from './places.ts'

/** A text in single quotes for fish. */
const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const condition = (path: string): string => `-n ${quote(`__tracebook_at ${quote(path)}`)}`

const valueFlags = (value: Value | undefined): string => {
  switch (value?.is) {
    case undefined:
      return ''
    case 'words':
      return ` -x -a ${quote(value.words.join(' '))}`
    case 'file':
      return ' -r -F'
    case 'anything':
      return ' -x'
  }
}

const optionLine = (path: string, { names, description, value }: OptionWords): string => {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  return `complete -c tracebook ${condition(path)} ${flags.join(' ')}${valueFlags(value)} -d ${quote(description)}`
}

const argumentLine = (path: string, value: Value, count: string): string[] => {
  const at = `complete -c tracebook -n ${quote(`__tracebook_at ${quote(path)} ${count}`)}`
  switch (value.is) {
    case 'words':
      return [`${at} -f -a ${quote(value.words.join(' '))}`]
    case 'file':
      return [`${at} -F`]
    case 'anything':
      return []
  }
}

const placeLines = ({ path, commands, options, arguments: values, isVariadic }: Place): string[] => [
  ...commands.map(
    ({ name, description }) =>
      `complete -c tracebook -n ${quote(`__tracebook_at ${quote(path)} 0`)} -f -a ${quote(name)} -d ${quote(description)}`,
  ),
  ...options.map((option) => optionLine(path, option)),
  ...values.flatMap((value, i) => argumentLine(path, value, isVariadic && i === values.length - 1 ? '' : String(i))),
]

const patterns = (texts: readonly string[]): string => texts.map(quote).join(' ') || "''"

/** A script for fish that completes the commands, options and values of these places, with what they mean. */
export const fishScript = (places: readonly Place[]): string => {
  const skipped = places.flatMap((place) =>
    valuedOptions(place).flatMap(({ names }) => names.map((name) => `${place.path}|${name}`)),
  )
  return `# Completion of tracebook for fish.

# Whether the words so far are this command, followed by this number of arguments.
function __tracebook_at
  set -l words (commandline -opc)
  set -e words[1]
  set -l at ''
  set -l count 0
  set -l skip 0
  for word in $words
    if test $skip = 1
      set skip 0
      continue
    end
    if contains -- "$at|$word" ${patterns(skipped)}
      set skip 1
      continue
    end
    set -l next (string trim -- "$at $word")
    if test $count = 0; and contains -- "$next" ${patterns(pathsOf(places))}
      set at $next
    else if not string match -q -- '-*' $word
      set count (math $count + 1)
    end
  end
  test "$at" = "$argv[1]"; and begin
    test (count $argv) = 1; or test $count = "$argv[2]"
  end
end

complete -c tracebook -f
${places.flatMap(placeLines).join('\n')}
`
}
