import type { Finding } from './rules.ts'
import { isPlaceholder } from './values.ts'

/** A line of an environment file, also with a line number in front, as agents show it. */
const line =
  /^[ \t]{0,8}(?:[0-9]{1,6}[→:|\t ]\s{0,4})?(?:export[ \t]{1,4})?([A-Za-z_][A-Za-z0-9_]{0,100})[ \t]{0,4}=[ \t]{0,4}(?:"([^"\n]{0,4000})"|'([^'\n]{0,4000})'|([^\s#"'][^\n#]{0,4000}))/gm

/** Values that are not secret: switches, numbers, ports, hosts and plain addresses without a password. */
const harmless =
  /^(?:true|false|yes|no|on|off|[0-9.]{1,9}|development|production|staging|test|debug|info|warn|error|localhost|[a-z]+:\/\/[\w.:-]+(?:\/[\w./-]*)?)$/i
const MIN_LENGTH = 6

/** Whether a path is that of an environment file, and not of an example of one. */
const isEnvFile = (path: string): boolean =>
  /(?:^|[\\/])\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?$/.test(path)

/** The values of an environment file. */
export const findEnvValues = (text: string): readonly Finding[] =>
  [...text.matchAll(line)].flatMap(({ 0: whole, 2: double, 3: single, 4: bare, index }) => {
    const value = (double ?? single ?? bare ?? '').trimEnd()
    if (value.length < MIN_LENGTH || harmless.test(value) || isPlaceholder(value)) return []
    const start = index + whole.lastIndexOf(value)
    return [{ rule: 'env-value', start, end: start + value.length }]
  })

/** Names of arguments with the path of the file that a tool reads or writes. */
const pathName = /(?:path|file|filename|uri|target)s?$/i
/** Names of arguments with a command or a patch. Prompts and contents of files may mention a file without reading it. */
const commandName = /^(?:commands?|cmd|script|input|patch|diff|bash|shell|chars)$/i
/** Commands that show the content of a file. */
const showing =
  /^(?:cat|bat|batcat|head|tail|less|more|nl|tac|type|Get-Content|gc|tee|strings|xxd|od|sort|uniq|cut|paste|diff|vim?|nano|code|open)$/
/** The same for commands whose first operand is what they search for. */
const searching = /^(?:e?grep|rg|ag|sed|awk|jq)$/

/** The words of a command, without their quotes. */
const wordsOf = (command: string): readonly string[] =>
  [...command.matchAll(/"([^"]{0,2000})"|'([^']{0,2000})'|[^\s"']+/g)].map(
    ([word, double, single]) => double ?? single ?? word,
  )

/** Commands that run another command, which is among their words. */
const running =
  /^(?:sudo|doas|su|env|time|timeout|command|exec|nohup|watch|xargs|find|fd|ssh|docker|podman|nerdctl|docker-compose|kubectl|oc|bash|sh|zsh|dash|fish|powershell|pwsh|cmd|wsl|vagrant|heroku|fly|then|do|else|if|while|!)(?:\.exe)?$/
const nameOf = (program: string) => program.slice(program.lastIndexOf('/') + 1)

/** Whether a word of a command is an environment file, or a pattern such as `.env*` that matches one. */
const isEnvWord = (word: string): boolean => isEnvFile(word.replace(/\.?[*?]{1,2}$/, ''))

/** Whether git shows an environment file, which may be named after a commit and a colon. */
const isShownByGit = (words: readonly string[]): boolean =>
  words.slice(0, 3).some((word) => /^(?:diff|show|blame|annotate)$/.test(word)) &&
  words.some((word) => isEnvWord(word.slice(word.indexOf(':') + 1)))

const showsEnvFile = (command: string): boolean => {
  const [program = '', ...rest] = wordsOf(command.trim())
  if (/^(?:git|yadm)$/.test(nameOf(program))) return isShownByGit(rest)
  if (!running.test(nameOf(program))) return isShownBy([program, ...rest])
  const at = rest.findIndex((word) => showing.test(nameOf(word)) || searching.test(nameOf(word)))
  const isFound = /^(?:find|fd)$/.test(nameOf(program)) && rest.slice(0, Math.max(at, 0)).some(isEnvWord)
  return isFound || (at >= 0 && isShownBy(rest.slice(at))) || rest.some((word) => /\s/.test(word) && usesEnvFile(word))
}

const isShownBy = ([program = '', ...rest]: readonly string[]): boolean => {
  const operands = rest.filter((word) => !word.startsWith('-'))
  if (showing.test(nameOf(program))) return operands.some(isEnvWord)
  return searching.test(nameOf(program)) && operands.slice(1).some(isEnvWord)
}

const redirected = /[<>]{1,2} {0,3}["']?([^\s"'<>|;&()]{1,400})/g
const patched = /^\*\*\* (?:Add|Update) File: (.{1,400})$/gm
/** Programs that are given as text in a command, and what they open. */
const interpreter = /\b(?:python|node|deno|bun|ruby|perl|php)/
const given = / (?:-[cepr]\b|eval\b|<<)/
const opened =
  /(?:open|readFile(?:Sync)?|read_text|dotenv_values|file_get_contents|read|Path)\(\s{0,4}\\?["']([^"'\\]{1,400})/g
/** A variable of the shell, with its value. */
const held = /(?:^|[\s;&])(?:for (\w{1,40}) in ([^;\n]{1,400})|(\w{1,40})=["']?([^\s;"'&]{1,400}))/g
const sourced = /(?:^|[\s;&|({"'])(?:source|\.) {1,4}["']?([^\s"';&|)]{1,400})/g
const printing = /^(?:env|printenv|export -p|declare -[xp]|set|export)$/
const LONGEST_COMMAND = 20_000

const filesOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, file]) => file!)

/** A command in which variables are replaced by `.env`, where they hold the name of an environment file. */
const withVariables = (text: string): string => {
  for (const [, name, files = '', other, file = ''] of text.matchAll(held))
    if (files.split(/\s/).some(isEnvWord) || isEnvWord(file))
      return text.replaceAll(`$${name ?? other}`, '.env').replaceAll(`\${${name ?? other}}`, '.env')
  return text
}

/** Whether a command or a patch reads or writes an environment file, and does not only mention it. */
const usesEnvFile = (command: string): boolean => {
  if (command.length > LONGEST_COMMAND || !command.includes('.env')) return false
  const text = withVariables(command)
  const files = [redirected, patched, ...(interpreter.test(text) && given.test(text) ? [opened] : [])].flatMap((one) =>
    filesOf(text, one),
  )
  if (files.some(isEnvFile)) return true
  const parts = text.split(/[|;&\n()`]+/).map((part) => part.trim())
  if (parts.some(showsEnvFile)) return true
  const isFound = parts.some((part) => /^(?:find|fd|ls|echo) /.test(part) && wordsOf(part).some(isEnvWord))
  if (isFound && parts.some((part) => part.startsWith('xargs ') && wordsOf(part).some((word) => showing.test(word))))
    return true
  return filesOf(text, sourced).some(isEnvFile) && parts.some((part) => printing.test(part))
}

const isCommand = (texts: readonly string[]): boolean =>
  texts.some(usesEnvFile) || (texts.length > 1 && showsEnvFile(texts.map((text) => JSON.stringify(text)).join(' ')))

/** Whether a call reads or writes an environment file, by its arguments. Then they and the result contain the file's values. */
export const isEnvCall = (args: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(args).some(([name, value]) => {
    const items = [value].flat()
    const texts = items.filter((text) => typeof text === 'string')
    if (pathName.test(name) && texts.some(isEnvFile)) return true
    if (commandName.test(name) && isCommand(texts)) return true
    return items.some((item) => isRecord(item) && hasEnvPath(item))
  })

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether one of several edits or files in an argument has the path of an environment file. */
const hasEnvPath = (item: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(item).some(([name, value]) => pathName.test(name) && typeof value === 'string' && isEnvFile(value))
