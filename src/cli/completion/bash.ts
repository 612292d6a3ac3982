import { type Place, type Value, pathsOf, quote, skippedPattern, valueCases } from './places.ts'

const fill = (value: Value): string => {
  switch (value.is) {
    case 'words':
      return `_tracebook_words ${quote(value.words.join(' '))}`
    case 'file':
      return '_tracebook_files'
    case 'anything':
      return ':'
  }
}

/** Completes options after a hyphen, else commands and arguments. */
const placeCases = (places: readonly Place[]): string[] =>
  places.flatMap(({ path, commands, options, arguments: values, isVariadic }) => {
    const names = options.flatMap((option) => option.names)
    const positional = values.flatMap((value, i) => {
      const isLast = isVariadic && i === values.length - 1
      return value.is === 'anything' ? [] : [`        ${quote(`${path}|`)}${isLast ? '*' : i}) ${fill(value)} ;;`]
    })
    return [
      `    ${quote(path)})`,
      `      if [[ $cur == -* ]]; then _tracebook_words ${quote(names.join(' '))}; return; fi`,
      ...(commands.length === 0
        ? []
        : [`      [[ $count == 0 ]] && _tracebook_words ${quote(commands.map(({ name }) => name).join(' '))}`]),
      ...(positional.length === 0 ? [] : ['      case "$at|$count" in', ...positional, '      esac']),
      '      ;;',
    ]
  })

const commandPattern = (places: readonly Place[]): string => pathsOf(places).map(quote).join(' | ')

/** A script for bash 3.2 and later that completes the commands, options and values of these places. */
export const bashScript = (places: readonly Place[]): string => `# Completion of tracebook for bash.

_tracebook_words() {
  local IFS=$' \\n'
  COMPREPLY+=($(compgen -W "$1" -- "$cur"))
}

_tracebook_files() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\\n'
  COMPREPLY+=($(compgen -f -- "$cur"))
}

_tracebook() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at='' count=0 i=1 word
  COMPREPLY=()
  if [[ $cur == '=' ]]; then cur=''
  elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "$at|$word" in
      ${skippedPattern(places)})
        [[ \${COMP_WORDS[i+1]} == '=' ]] && ((i++))
        ((i++))
        continue ;;
    esac
    case "\${at:+$at }$word" in
      ${commandPattern(places)}) [[ $count == 0 ]] && at="\${at:+$at }$word" && continue ;;
    esac
    [[ $word == -* ]] || ((count++))
  done
  case "$at|$prev" in
${valueCases(places, fill).join('\n')}
  esac
  case "$at" in
${placeCases(places).join('\n')}
  esac
}

complete -F _tracebook tracebook
`
