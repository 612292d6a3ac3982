import type { Finding } from './rules.ts'
import { isPlaceholder } from './values.ts'

/** A line of an environment file, also as an agent shows it with a line number before. */
const line =
  /^[ \t]{0,8}(?:[0-9]{1,6}[→:|\t ]\s{0,4})?(?:export[ \t]{1,4})?([A-Za-z_][A-Za-z0-9_]{0,100})[ \t]{0,4}=[ \t]{0,4}(?:"([^"\n]{0,4000})"|'([^'\n]{0,4000})'|([^\s#"'][^\n#]{0,4000}))/gm

/** Settings that say nothing: switches, numbers, ports, hosts and plain addresses without a password. */
const harmless =
  /^(?:true|false|yes|no|on|off|[0-9.]{1,9}|development|production|staging|test|debug|info|warn|error|localhost|[a-z]+:\/\/[\w.:-]+(?:\/[\w./-]*)?)$/i
const MIN_LENGTH = 6

/** Whether a path is that of a file with the environment of a program; examples of one are not. */
export const isEnvFile = (path: string): boolean =>
  /(?:^|[\\/])\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?$/.test(path)

/** The values of an environment file. */
export const findEnvValues = (text: string): readonly Finding[] =>
  [...text.matchAll(line)].flatMap(({ 0: whole, 2: double, 3: single, 4: bare, index }) => {
    const value = (double ?? single ?? bare ?? '').trimEnd()
    if (value.length < MIN_LENGTH || harmless.test(value) || isPlaceholder(value)) return []
    const start = index + whole.lastIndexOf(value)
    return [{ rule: 'env-value', start, end: start + value.length }]
  })

/** Arguments that name the file which a tool reads or writes. */
const pathName = /(?:path|file|filename|uri|target)s?$/i
/** Arguments that are a command, or a patch. Prompts and contents of files only speak of one. */
const commandName = /^(?:commands?|cmd|script|input|patch|diff|bash|shell|chars)$/i
/** Commands that show what a file holds; of `grep`, `sed` and `awk` the first word is what they look for. */
const showing =
  /^(?:cat|bat|batcat|head|tail|less|more|nl|tac|type|Get-Content|gc|tee|strings|xxd|od|sort|uniq|cut|paste|diff|vim?|nano|code|open)$/
const searching = /^(?:e?grep|rg|ag|sed|awk|jq)$/

/** The words of a command, without their quotes. */
const wordsOf = (command: string): readonly string[] =>
  [...command.matchAll(/"([^"]{0,2000})"|'([^']{0,2000})'|[^\s"']+/g)].map(
    ([word, double, single]) => double ?? single ?? word,
  )

const showsEnvFile = (command: string): boolean => {
  const [program = '', ...rest] = wordsOf(command.trim().replace(/^(?:sudo |env |time |command )+/, ''))
  const name = program.slice(program.lastIndexOf('/') + 1)
  const operands = rest.filter((word) => !word.startsWith('-'))
  if (showing.test(name)) return operands.some(isEnvFile)
  return searching.test(name) && operands.slice(1).some(isEnvFile)
}

const redirected = /[<>]{1,2} {0,3}["']?([^\s"'<>|;&()]{1,400})/g
const patched = /^\*\*\* (?:Add|Update) File: (.{1,400})$/gm
const LONGEST_COMMAND = 20_000

/** Whether a command, or a patch, reads or writes an environment file: one that only mentions it does not. */
const usesEnvFile = (text: string): boolean => {
  if (text.length > LONGEST_COMMAND || !text.includes('.env')) return false
  const files = [...text.matchAll(redirected), ...text.matchAll(patched)].map(([, file]) => file!)
  return files.some(isEnvFile) || text.split(/[|;&\n()`]+/).some(showsEnvFile)
}

/** Whether a call, by its arguments, reads or writes an environment file, so that it and its result hold the values of one. */
export const isEnvCall = (args: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(args).some(([name, value]) => {
    const texts = [value].flat().filter((text) => typeof text === 'string')
    if (pathName.test(name)) return texts.some(isEnvFile)
    return commandName.test(name) && (texts.some(usesEnvFile) || (texts.length > 1 && showsEnvFile(texts.join(' '))))
  })
