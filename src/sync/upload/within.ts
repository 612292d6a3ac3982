import { MARK, MARKS } from '../redaction/marks.ts'

type Part = { readonly type: string; readonly content?: object | undefined }

/** A message as it is sent, or as the service gives it. */
export type AnyMessage = {
  readonly role: string
  readonly model?: string | undefined
  readonly order?: number | undefined
  readonly timestamp?: number | undefined
  /** A text beside the parts, which no agent's session has. */
  readonly textContent?: string | undefined
  readonly parts?: readonly Part[] | undefined
}

/** The members of a part's content that grow while its agent writes them. */
const GROWING = ['text', 'output', 'message']

const NO_SECRET = /\s/

/** The index where the text after a secret continues with `next`; undefined if it does not. */
const endOfSecret = (text: string, from: number, next: string): number | undefined => {
  const marked = MARK.exec(text.slice(from, from + 80))
  const end = marked?.index === 0 ? from + marked[0].length : text.indexOf(next === '' ? ' ' : next, from + 1)
  if (marked?.index === 0) return text.startsWith(next, end) ? end : undefined
  const found = next === '' ? text.length : end
  return found > from && !NO_SECRET.test(text.slice(from, found)) ? found : undefined
}

/** Whether the rest of a text ends within a secret, or within what follows it. */
const endsEarly = (rest: string, next: string): boolean => {
  const secret = /^\S*/.exec(rest)![0].length
  for (let end = 0; end <= secret; end++) if (next.startsWith(rest.slice(end))) return true
  return false
}

/**
 * Whether `redacted` is `text` with marks in place of secrets; with `mayEndEarly` also if `text` ends before `redacted` does. Secrets contain
 * no white space.
 */
export const isUnredacted = (text: string, redacted: string, mayEndEarly = false): boolean => {
  const [first = '', ...others] = redacted.split(MARK)
  if (!text.startsWith(first)) return mayEndEarly && first.startsWith(text)
  let at = first.length
  for (const next of others) {
    if (mayEndEarly && at >= text.length) return true
    const end = endOfSecret(text, at, next)
    if (end === undefined) return mayEndEarly && endsEarly(text.slice(at), next)
    at = end + next.length
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

/** Whether a message is a later version of another one, which has less. */
export const hasMore = (message: AnyMessage, other: AnyMessage): boolean =>
  isEarlierVersion(other, message) && !isEarlierVersion(message, other)

/** A text that begins with another one, in which marks take the place of secrets, with these marks; undefined if it does not begin so. */
const withMarks = (text: string, redacted: string): string | undefined => {
  const [first = '', ...others] = redacted.split(MARK)
  if (!text.startsWith(first)) return undefined
  let at = first.length
  for (const [index, next] of others.entries()) {
    // The last secret may be followed by a text that the other one does not have.
    const isOpen = next === '' && index === others.length - 1
    const rest = isOpen ? /^(?:\[redacted:[\w-]+\]|\S+)/.exec(text.slice(at))?.[0].length : undefined
    const end = isOpen ? rest && at + rest : endOfSecret(text, at, next)
    if (end === undefined) return undefined
    at = end + next.length
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
  return one !== other && isUnredacted(one, other, true) && !other.startsWith(one)
}

const textsOf = ({ content }: Part): readonly (readonly [string, string])[] =>
  Object.entries(content ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])

/** Whether a message shows a secret that another version of it has a mark for. */
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
  textOf(one) === textOf(other) && (one.textContent ?? other.textContent) === other.textContent
