import { type Place, type Value, type Word, pathsOf, quote, skippedPattern, valueCases } from './places.ts'

const fill = (value: Value): string => {
  switch (value.is) {
    case 'words':
      return `compadd -- ${value.words.map(quote).join(' ')}`
    case 'file':
      return '_files'
    case 'anything':
      return ':'
  }
}

/** Words with their descriptions, as _describe takes them. */
const described = (words: readonly Word[]): string =>
  words
    .map(({ name, description }) => quote(`${name.replaceAll(':', '\\:')}:${description.replaceAll(':', '\\:')}`))
    .join(' ')

const placeCases = (places: readonly Place[]): string[] =>
  places.flatMap(({ path, commands, options, arguments: values, isVariadic }) => {
    const words = options.flatMap(({ names, description }) => names.map((name) => ({ name, description })))
    const positional = values.flatMap((value, i) => {
      const isLast = isVariadic && i === values.length - 1
      return value.is === 'anything' ? [] : [`        ${quote(`${path}|`)}${isLast ? '*' : i}) ${fill(value)} ;;`]
    })
    return [
      `    ${quote(path)})`,
      `      if [[ $cur == -* ]]; then found=(${described(words)}); _describe option found; return; fi`,
      ...(commands.length === 0
        ? []
        : [`      if [[ $count == 0 ]]; then found=(${described(commands)}); _describe command found; fi`]),
      ...(positional.length === 0 ? [] : ['      case "$at|$count" in', ...positional, '      esac']),
      '      ;;',
    ]
  })

/** A script for zsh that completes the commands, options and values of these places, with what they mean. */
export const zshScript = (places: readonly Place[]): string => `#compdef tracebook
# Completion of tracebook for zsh.

_tracebook() {
  local cur=$words[CURRENT] prev=$words[CURRENT-1] at='' count=0 i=2 word
  local -a found
  for ((; i < CURRENT; i++)); do
    word=$words[i]
    case "$at|$word" in
      ${skippedPattern(places)}) ((i++)); continue ;;
    esac
    case "\${at:+$at }$word" in
      ${pathsOf(places).map(quote).join('|')}) if [[ $count == 0 ]]; then at="\${at:+$at }$word"; continue; fi ;;
    esac
    [[ $word == -* ]] || ((count++))
  done
  if [[ $cur == --*=* ]]; then
    prev=\${cur%%=*}
    compset -P '*='
  fi
  case "$at|$prev" in
${valueCases(places, fill).join('\n')}
  esac
  case "$at" in
${placeCases(places).join('\n')}
  esac
}

if [[ $funcstack[1] == _tracebook ]]; then _tracebook "$@"; else compdef _tracebook tracebook; fi
`
