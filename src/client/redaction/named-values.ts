import { strengthOf } from './names.ts'
import { isSecretValue, type Strength, type Written } from './values.ts'

/** The place of a secret in a text, in UTF-16 offsets. */
export type Range = { readonly start: number; readonly end: number }

const isNameCode = (code: number) =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code === 45

const LONGEST_NAME = 80

/** The whole name around a keyword at `at`; undefined if it is too long for a name, as in base64. */
const nameAround = (text: string, at: number): Range | undefined => {
  let [start, end] = [at, at]
  while (start > 0 && at - start < LONGEST_NAME && isNameCode(text.charCodeAt(start - 1))) start--
  while (end < text.length && end - at < LONGEST_NAME && isNameCode(text.charCodeAt(end))) end++
  if (end - start >= LONGEST_NAME) return undefined
  // In the text of a JSON string a line break is written `\n`, and the `n` does not belong to the name.
  if (text[start - 1] === '\\' && /[nrt]/.test(text[start]!)) start++
  while (end > start && text[end - 1] === '-') end--
  while (start < end && text[start] === '-') start++
  return { start, end }
}

/** One way in which a value is written after its name. */
type Place = {
  /** Matches the text between the name and the value. */
  readonly pattern: RegExp
  /** Whether the value must be between quotes. */
  readonly isQuoted?: true
  /** Limits the way to some names, and to some texts before them. */
  readonly isFor?: (before: string, name: string) => boolean
  /** In a table or a sentence a value has to look more like a secret: in `prose` always, where it is `said` unless it is quoted. */
  readonly is?: 'prose' | 'said'
}

const flag = /(?:^|[\s"'`=[(,])--?$/
/** Commands and lines of Dockerfiles in which a value follows its name after a space; and of `.netrc`. */
const setting = /(?:ENV|ARG|SetEnv|setx?|set -\w{1,4}|configure set|config set) {1,4}[\w.:/-]{0,60}$/i
const login = /login {1,4}\S{1,40} {1,4}$/
const isFlag = (before: string, name: string) =>
  flag.test(before) ||
  setting.test(before) ||
  login.test(before) ||
  /^(?:requirepass|masterauth|_authToken)$/i.test(name)
const isTag = (before: string) => /<[\w:.-]{0,30}$|<\w[^<>\n]{0,80}$/.test(before)

/** The ways in the order in which they are tried. */
const places: readonly Place[] = [
  // key: str = "value", const key: string = 'value', key string = "value", key[] = "value"
  {
    pattern:
      /(?:[!?]?:[ \t]?|[ \t])[&*]?[A-Za-z_][\w.]{0,40}(?:[[<][\w ,|.]{0,60}[\]>])?(?:\[\])?\??(?: \| ?\w{1,20}){0,3}[ \t]?:?=[ \t]{0,4}/y,
    isQuoted: true,
  },
  // key = value, "key": "value", \"key\":\"value\", **key:** value, key => value, ["key"] = "value"
  {
    pattern:
      /[\\"'`*_\])]{0,8}(?:\[\d{0,4}\])?[ \t]{0,20}(?::=|=>|={1,3}|!={1,2}|:{1,2}|%3[DA]|\?\?=|\|\|=|\?=|<-|->|→|⇒|—|–)[*_]{0,3}[ \t]{0,20}\*{0,2}(?:[|>][-+]?[ \t]{0,4}\n[ \t]{0,20})?(?:!!\w{1,10} )?/y,
  },
  // --key value, ENV KEY value
  { pattern: /[\\"'`]{0,4}(?:,[ \t]{0,4}|[ \t]{1,8}(?=\S))/y, isFor: isFlag },
  // set("key", "value"), key("value"), key "value"
  { pattern: /[\\"'`\]]{0,4}(?:[ \t]{0,4}[,(][ \t]{0,4}|[ \t]{1,4})/y, isQuoted: true },
  // name: key, value: "value", as lines of YAML or as JSON; <add key="…" value="…"/>
  {
    pattern:
      /[\\"'`]{0,4},?(?:\s|\\[nrt]|[\\"'`{},+-]){1,60}(?:(?:Parameter|Secret|string|default_)?value|default)[\\"'`]{0,4}[ \t]{0,4}[:=][ \t]{0,4}/iy,
  },
  // <key>value</key>
  { pattern: /(?:["'] {0,3})?>/y, isFor: isTag },
  // | key | value |
  { pattern: /[`*]{0,4}[ \t]{0,20}\|[ \t]{0,20}[`*]{0,4}/y, is: 'said' },
  // key for the service: value, key (of today) - value
  {
    pattern: /[`*"']{0,3}(?: \([^()\n]{1,40}\))?(?: [\w'@%/.-]{1,30}){0,4}(?: {0,2}[:=]| [-–—→]) {1,3}/y,
    is: 'said',
  },
  // the key of the service is value
  {
    pattern:
      /[`*"')]{0,3}(?: [\w'/.-]{1,20}){0,6} (?:is|was|are|be|to|as|with)(?: now| set to| still| currently)?:? (?=\S)/y,
    is: 'said',
  },
  // key value, key (value)
  { pattern: /[`*"')]{0,3}:?[ \t]{1,2}\(?/y, is: 'prose' },
]

const opening = /[fFrRbBuU@$]{0,2}(\\{0,7})("{3}|'{3}|`{1,3}|["'])/y
/** What may come before a value: a variable with the value as its default, a call with it, a bracket. */
const wrapped = [
  /[\w.$:?!]{1,60}(?:[[(]["'][\w.-]{1,60}["'][\])])?\)? {0,2}(?:\|\||\?\?|or) {0,2}(?=["'`])/y,
  /(?:new )?[\w.$:&]{1,60}\((?:\w{1,20} ?= ?)?(?=["'`])/y,
  /\$\{\w{1,80}:?[-=](?=[^\s}])/y,
  /[[(] ?/y,
]
const bareValue = /[^\s"'`<>|\\]{1,512}/y
const LONGEST_QUOTED = 65_536

const run = /(?:[\w+/=~%-]|\.(?=\w))*/y
/** From this length on a secret may be longer than its pattern matches. */
const LONG = 256

/** Where a secret ends that may be longer than its pattern matches. Only secrets that were found are read to their end. */
export const endOfRun = (text: string, start: number, end: number): number => {
  if (end - start < LONG) return end
  run.lastIndex = end
  run.test(text)
  return run.lastIndex
}

/** The value between the quotes that open at `at`. Quotes that are escaped once more than these belong to the value. */
const quotedAt = (text: string, at: number): Range | undefined => {
  opening.lastIndex = at
  const match = opening.exec(text)
  if (!match) return undefined
  const [, escapes = '', quote = ''] = match
  const start = opening.lastIndex
  const rest = text.slice(start, start + LONGEST_QUOTED)
  const close = escapes + quote
  for (let end = rest.indexOf(close); end >= 0; end = rest.indexOf(close, end + 1)) {
    let slashes = 0
    while (rest[end - slashes - 1] === '\\') slashes++
    if (slashes % 2 === 0) return rest.slice(0, end).includes('\n') ? undefined : { start, end: start + end }
  }
  return undefined
}

/** Where a value without quotes ends. */
const endOfBare = (value: string, isQuery: boolean): number => {
  let end = value.length
  const next = isQuery ? /[&#]/.exec(value) : /&&|[&,;](?=$|[\w.[\]-]{1,40}[=:])/.exec(value)
  if (next) end = next.index
  for (;;) {
    const last = value[end - 1] ?? ''
    const open = { ')': '(', ']': '[', '}': '{' }[last]
    if (open !== undefined ? value.slice(0, end - 1).includes(open) : !/[.,;:?*_]/.test(last)) return end
    end--
  }
}

const bareAt = (text: string, at: number, isQuery: boolean): Range | undefined => {
  bareValue.lastIndex = at
  const [value] = bareValue.exec(text) ?? []
  if (value === undefined) return undefined
  return { start: at, end: at + endOfBare(value, isQuery) }
}

/** Whether a word of a sentence is a secret: it must not look like a word. */
const isProse = (value: string, strength: Strength): boolean =>
  (strength === 'password' || strength === 'secret' ? value.length >= 8 : value.length >= 16) &&
  /[0-9]/.test(value) &&
  /[A-Za-z]/.test(value) &&
  isSecretValue(value, strength === 'strong' ? 'strong' : 'secret', 'bare')

type Name = Range & { readonly strength: Strength; readonly before: string; readonly text: string }

/** The value at `at`, or after what may come before a value. */
const writtenAt = (text: string, at: number, name: Name, { is, isQuoted }: Place) => {
  const quoted = quotedAt(text, at)
  if (quoted) return { ...quoted, isQuoted: true }
  for (const pattern of is === undefined ? wrapped : []) {
    pattern.lastIndex = at
    if (!pattern.test(text)) continue
    const within = quotedAt(text, pattern.lastIndex)
    if (within) return { ...within, isQuoted: true }
    const bare = bareAt(text, pattern.lastIndex, false)
    if (bare && /[-=[(]$/.test(text.slice(at, pattern.lastIndex))) return { ...bare, isQuoted: false }
  }
  const bare = isQuoted ? undefined : bareAt(text, at, /[?&]$/.test(name.before))
  return bare && { ...bare, isQuoted: false }
}

/** Matches the text before a name at the beginning of a line, as in an environment file. */
const isLine = /(?:^|\n)(?:export )?$/
/** In such a line a value may contain characters that end it elsewhere. */
const marks = /(?:[<>|](?!\/)[^\s"'`\\]{1,512})?/y
const endOfLine = (text: string, end: number): number => {
  marks.lastIndex = end
  marks.test(text)
  return marks.lastIndex
}

const valueAt = (text: string, at: number, name: Name, place: Place): Range | undefined => {
  const found = writtenAt(text, at, name, place)
  if (!found) return undefined
  const { start, end, isQuoted } = found
  const value = text.slice(start, end)
  if (value.length < LONGEST_NAME && /^[A-Za-z]+$/.test(value) && strengthOf(value)) return undefined
  const isTight = at > name.end && /^["']?[=:>]$/.test(text.slice(name.end, at)) && /[=>]/.test(text[at - 1]!)
  const written: Written = isQuoted ? 'quoted' : isTight || place.isFor ? 'tight' : 'bare'
  const isSecret =
    place.is === 'prose' || (place.is === 'said' && !isQuoted && name.strength !== 'password')
      ? isProse(value, name.strength)
      : isSecretValue(value, name.strength, written)
  if (!isSecret) return undefined
  if (isQuoted) return { start, end }
  const endOfValue = endOfRun(text, start, end)
  return { start, end: isTight && isLine.test(name.before) ? endOfLine(text, endOfValue) : endOfValue }
}

/** A word before a name that belongs to the name in a sentence, as in `API key`. */
const wordBefore = /([A-Za-z]{2,20}) $/

const nameOf = (text: string, at: number): Name | undefined => {
  const range = nameAround(text, at)
  if (!range) return undefined
  const before = text.slice(Math.max(0, range.start - 100), range.start)
  const name = text.slice(range.start, range.end)
  const word = /^keys?$/i.test(name) ? wordBefore.exec(before)?.[1] : undefined
  const strength = strengthOf(word === undefined ? name : `${word}_${name}`)
  return strength && { ...range, strength, before, text: name }
}

/** Words with other meanings, which count as names before `=` or `:` only. */
const ambiguous = /^(?:pass|auth|pat|sas|pw|pwd|creds?|dsn|bearer)$/i

/** The value after the name at `at`, if it is secret. */
export const findNamed = (text: string, at: number): Range | undefined => {
  const name = nameOf(text, at)
  if (!name) return undefined
  for (const place of places) {
    if (place.is !== undefined && (name.strength === 'strong' || ambiguous.test(name.text))) continue
    if (place.isQuoted && ambiguous.test(name.text)) continue
    if (place.isFor && !place.isFor(name.before, name.text)) continue
    place.pattern.lastIndex = name.end
    if (!place.pattern.test(text)) continue
    const found = valueAt(text, place.pattern.lastIndex, name, place)
    if (found) return found
  }
  return undefined
}
