import type { Usage } from '../../contract/usage.ts'
import { MARK, MARKS } from '../redaction/marks.ts'

type Part = { readonly type: string; readonly content?: object | undefined }

/** A message as it is sent, or as the service gives it. */
export type AnyMessage = {
  readonly role: string
  readonly model?: string | undefined
  readonly order?: number | undefined
  readonly timestamp?: number | undefined
  readonly usage?: Usage | undefined
  /** A text beside the parts, which no agent's session has. */
  readonly textContent?: string | undefined
  readonly parts?: readonly Part[] | undefined
}

/** The members of a part's content that grow while its agent writes them. */
const GROWING = ['text', 'output', 'message']

/** The rule of a mark, and the text up to the next one. */
type Followed = { readonly rule: string; readonly next: string }

/** A redacted text: what is before its first mark, and its marks. */
const splitAtMarks = (redacted: string): { readonly first: string; readonly followed: readonly Followed[] } => {
  const [first = '', ...others] = redacted.split(MARK)
  const marks = redacted.match(MARKS) ?? []
  const followed = others.map((next, index) => ({ rule: marks[index]!.slice('[redacted:'.length, -1), next }))
  return { first, followed }
}

const armour = /-----BEGIN[^]*?-----END[A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----/y
/** Up to the end of a line, also one whose end is written `\n`. */
const restOfLine = /(?:(?!\\n|\n)[^])*/y
const withinQuotes = { '"': /[^"\n]*/y, "'": /[^'\n]*/y, '`': /[^`\n]*/y } as Readonly<Record<string, RegExp>>
const noSpace = /\S*/y
/** A passphrase, also one that the text ends within. */
const phrase = /[a-z]{3,12}(?: [a-z]{3,12}){2,10}|[a-z]{3,12}(?: [a-z]{3,12})? ?[a-z]{0,12}$/y

const endOf = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** The end of a whole private key. */
const endOfKey = (text: string, at: number): number | undefined => {
  const end = endOf(armour, text, at)
  return end > at ? end : undefined
}

/**
 * Where a secret that begins at `at` ends at the latest. White space is only in private keys, in values of environment files, between quotes, and in
 * passphrases, as the rules of redaction find them.
 */
const latestEnd = (text: string, at: number, rule: string): number => {
  if (text.startsWith('-----BEGIN', at)) return endOfKey(text, at) ?? text.length
  const quoted = withinQuotes[text[at - 1] ?? '']
  const ofRule = { 'env-value': restOfLine, 'secret-value': phrase }[rule]
  return Math.max(...[noSpace, quoted, ofRule].map((pattern) => (pattern ? endOf(pattern, text, at) : at)))
}

/** The index where the text after a secret continues with `next`; undefined if it does not. */
const endOfSecret = (text: string, from: number, { rule, next }: Followed): number | undefined => {
  const marked = MARK.exec(text.slice(from, from + 80))
  const end = marked?.index === 0 ? from + marked[0].length : undefined
  if (end !== undefined) return text.startsWith(next, end) ? end : undefined
  const found = endOfKey(text, from) ?? (next === '' ? text.length : text.indexOf(next, from + 1))
  return found > from && found <= latestEnd(text, from, rule) && text.startsWith(next, found) ? found : undefined
}

/** Whether a text ends within the secret that begins at `at`, or within what follows it. */
const endsEarly = (text: string, at: number, { rule, next }: Followed): boolean => {
  const latest = latestEnd(text, at, rule)
  for (let end = Math.max(at, text.length - next.length); end <= latest; end++)
    if (next.startsWith(text.slice(end))) return true
  return false
}

/** Whether `redacted` is `text` with marks in place of secrets; with `mayEndEarly` also if `text` ends before `redacted` does. */
export const isUnredacted = (text: string, redacted: string, mayEndEarly = false): boolean => {
  const { first, followed } = splitAtMarks(redacted)
  if (!text.startsWith(first)) return mayEndEarly && first.startsWith(text)
  let at = first.length
  for (const mark of followed) {
    if (mayEndEarly && at >= text.length) return true
    const end = endOfSecret(text, at, mark)
    if (end === undefined) return mayEndEarly && endsEarly(text, at, mark)
    at = end + mark.next.length
  }
  return at === text.length
}

const isPartWithin = (part: Part, whole: Part): boolean => {
  const content = { ...whole.content } as Readonly<Record<string, unknown>>
  return (
    part.type === whole.type &&
    Object.entries(part.content ?? {}).every(([name, value]) =>
      GROWING.includes(name) && typeof value === 'string'
        ? isUnredacted(value, String(content[name]), true)
        : isUnredacted(JSON.stringify(value) ?? '', JSON.stringify(content[name]) ?? ''),
    )
  )
}

/** Whether a message is an earlier version of another one: each of its parts is there, in the same order, and as long or longer. */
export const isEarlierVersion = (message: AnyMessage, whole: AnyMessage): boolean => {
  const [{ parts = [], textContent = '' }, wholes] = [message, whole.parts ?? []]
  if (!isUnredacted(textContent, whole.textContent ?? '', true)) return false
  let next = 0
  return parts.every((part) => {
    while (next < wholes.length) if (isPartWithin(part, wholes[next++]!)) return true
    return false
  })
}

/** Whether a message is a later version of another one, which has less. Its length alone does not tell: a newer parser may leave something out. */
export const hasMore = (message: AnyMessage, other: AnyMessage): boolean =>
  isEarlierVersion(other, message) && !isEarlierVersion(message, other)

/** Where a secret, or its mark, ends that another text is known to end with; undefined if there is none. */
const openEnd = (text: string, at: number, rule: string): number | undefined => {
  const marked = /^\[redacted:[\w-]+\]/.exec(text.slice(at, at + 80))?.[0].length
  const end = marked === undefined ? latestEnd(text, at, rule) : at + marked
  return end > at ? end : undefined
}

/** A text that begins with another one, in which marks take the place of secrets, with these marks; undefined if it does not begin so. */
const withMarks = (text: string, redacted: string): string | undefined => {
  const { first, followed } = splitAtMarks(redacted)
  if (!text.startsWith(first)) return undefined
  let at = first.length
  for (const [index, mark] of followed.entries()) {
    // The last secret may be followed by a text that the other one does not have.
    const isOpen = mark.next === '' && index === followed.length - 1
    const end = isOpen ? openEnd(text, at, mark.rule) : endOfSecret(text, at, mark)
    if (end === undefined) return undefined
    at = end + mark.next.length
  }
  return redacted + text.slice(at)
}

/** The same for a part; the same object if it has these marks already. */
const partWithMarks = (part: Part, redacted: Part): Part | undefined => {
  if (part.type !== redacted.type) return undefined
  const others = { ...redacted.content } as Readonly<Record<string, unknown>>
  const members: [string, unknown][] = []
  for (const [name, value] of Object.entries(part.content ?? {})) {
    const other = others[name]
    const isText = GROWING.includes(name) && typeof value === 'string'
    const [json, otherJson] = [JSON.stringify(value) ?? '', JSON.stringify(other) ?? '']
    const marked = isText ? withMarks(value, String(other)) : json === otherJson ? value : other
    if (marked === undefined || (!isText && !isUnredacted(json, otherJson))) return undefined
    members.push([name, marked])
  }
  const isSame = members.every(([name, value]) => value === (part.content as typeof others | undefined)?.[name])
  return isSame ? part : { ...part, content: Object.fromEntries(members) }
}

/** A message with the marks of another version of it in the place of secrets; the same object if that changes nothing. */
export const withMarksOf = <Message extends AnyMessage>(message: Message, other: AnyMessage): Message => {
  if (!MARK.test(JSON.stringify([other.textContent, other.parts]))) return message
  let next = 0
  const parts = message.parts?.map((part) => {
    const redacted = other.parts?.[next]
    const marked = redacted && partWithMarks(part, redacted)
    if (marked) next++
    return marked ?? part
  })
  const text = message.textContent && withMarks(message.textContent, other.textContent ?? '')
  const isSame = parts?.every((part, index) => part === message.parts![index]) ?? true
  if (isSame && (text ?? message.textContent) === message.textContent) return message
  return { ...message, ...(parts && { parts }), ...(text !== undefined && { textContent: text }) }
}

const neutral = (text: string): string => text.replaceAll(MARKS, '[redacted:x]')

/** Whether a text shows a secret that another version of it has a mark for. */
export const showsSecretOf = (text: string, redacted: string): boolean => {
  const [one, other] = [neutral(text), neutral(redacted)]
  return one !== other && isUnredacted(text, redacted, true) && !other.startsWith(one)
}

const textsOf = ({ content }: Part): readonly (readonly [string, string])[] =>
  Object.entries(content ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])

/** Whether a message shows a secret that another version of it has a mark for. More marks alone do not tell: one that grows may get some. */
export const showsSecret = (message: AnyMessage, redacted: AnyMessage): boolean => {
  const parts = (redacted.parts ?? []).map((part) => [part.type, new Map(textsOf(part))] as const)
  return (
    showsSecretOf(message.textContent ?? '', redacted.textContent ?? '') ||
    (message.parts ?? []).some((part) =>
      textsOf(part).some(([name, text]) =>
        parts.some(([type, texts]) => type === part.type && showsSecretOf(text, texts.get(name) ?? '')),
      ),
    )
  )
}

/** All of a message that a client sends, whatever the order of its members. What it does not say stays as it is on the service. */
const textOf = ({ role, model, order, timestamp, parts = [] }: AnyMessage): string =>
  JSON.stringify([role, model, order, timestamp, parts.map(({ type, content }) => [type, content])])

export const isSameMessage = (one: AnyMessage, other: AnyMessage): boolean =>
  textOf(one) === textOf(other) &&
  JSON.stringify(one.usage ?? other.usage) === JSON.stringify(other.usage) &&
  (one.textContent ?? other.textContent) === other.textContent
