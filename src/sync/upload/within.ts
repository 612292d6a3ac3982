type Part = { readonly type: string; readonly content?: object | undefined }

/** A message as it is sent, or as the service gives it. */
export type AnyMessage = {
  readonly role: string
  readonly model?: string | undefined
  readonly order?: number | undefined
  readonly timestamp?: number | undefined
  readonly parts?: readonly Part[] | undefined
}

/** The members of a part's content that grow while its agent writes them. */
const GROWING = ['text', 'output', 'message']

const REDACTED = /\[redacted:[\w-]+\]/
const NO_SECRET = /\s/

/** The index where the text after a secret continues with `next`; undefined if it does not. */
const endOfSecret = (text: string, from: number, next: string): number | undefined => {
  const marked = REDACTED.exec(text.slice(from, from + 80))
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
  const [first = '', ...others] = redacted.split(REDACTED)
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
export const isEarlierVersion = ({ parts = [] }: AnyMessage, { parts: wholes = [] }: AnyMessage): boolean => {
  let next = 0
  return parts.every((part) => {
    while (next < wholes.length) if (isPartWithin(part, wholes[next++]!)) return true
    return false
  })
}

/** All of a message that a client sends, whatever the order of its members. */
const textOf = ({ role, model, order, timestamp, parts = [] }: AnyMessage): string =>
  JSON.stringify([role, model, order, timestamp, parts.map(({ type, content }) => [type, content])])

export const isSameMessage = (one: AnyMessage, other: AnyMessage): boolean => textOf(one) === textOf(other)
