import { rawItemsInSteps } from '../../../base/json/raw-values.ts'
import type { MessageRole, Part, PartType } from '../../../contract/message.ts'
import { textsOf } from '../messages/part-texts.ts'
import type { TextPlace, SearchedText } from './searched-text.ts'

/** The characters of a long text that are searched, at its beginning and at its end. */
const HEAD = 16 * 1024
const TAIL = 4 * 1024
/** The most characters of a message that are searched; further parts are left out. */
const MOST = 1024 * 1024
/** Stands for the characters left out between them. */
const GAP = '\n…\n'

/** Joins texts line by line, and keeps the beginning and the end of the whole. */
const newCutText = () => {
  let head = ''
  let tail = ''
  let isFirst = true
  let isCut = false
  const add = (text: string) => {
    const more = isFirst ? text : `\n${text}`
    isFirst = false
    const room = HEAD - head.length
    head += more.slice(0, room)
    const rest = more.slice(Math.max(room, 0))
    isCut ||= tail.length + rest.length > TAIL
    tail = (tail + rest.slice(-TAIL)).slice(-TAIL)
  }
  return { add, text: () => (isCut ? `${head}${GAP}${tail}` : head + tail) }
}

const cut = (text: string): string =>
  text.length <= HEAD + TAIL ? text : `${text.slice(0, HEAD)}${GAP}${text.slice(-TAIL)}`

const ofRole = { user: 'prompt', assistant: 'answer', system: 'system' } as const
const ofType = { thinking: 'thinking', tool_call: 'call', tool_result: 'output', error: 'output' } as const

const placeOf = (type: PartType, role: MessageRole): TextPlace | 'system' =>
  type === 'text' ? ofRole[role] : ofType[type]

/** A message as it is stored: `text` and `parts` are JSON, of parts joined by commas. */
export type StoredMessage = { readonly role: MessageRole; readonly text: string | null; readonly parts: string | null }

const TYPE = /^\{"order":\d+,"type":"([a-z_]+)"/

const typeIn = (part: string): PartType =>
  (TYPE.exec(part)?.[1] ?? (JSON.parse(part) as { type: PartType }).type) as PartType

/** Parts with fewer characters are parsed in one step, which takes a fraction of the time. */
const FEW = 32 * 1024
/** Numbers that may read differently after they were parsed as a double. */
const UNUSUAL_NUMBER = /[\s:,[]-?\d+[.eE]|\d{16}/

/** The strings and numbers in a value, in order. */
const leavesOf = (value: unknown): (string | number)[] => {
  if (typeof value === 'string' || typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

/** The texts of a parsed part: those that `textsOf` gives for its JSON, unless the JSON has unusual numbers. */
const leavesOfPart = (part: Part): readonly (string | number)[] => {
  if (!part.content) return []
  switch (part.type) {
    case 'tool_call':
      return [part.content.toolName, ...leavesOf(part.content.args)]
    case 'tool_result':
      return [part.content.output]
    case 'error':
      return [part.content.message]
    case 'text':
    case 'thinking':
      return [part.content.text]
  }
}

/** The texts of a few parts; undefined if their numbers may read differently once they are parsed. */
const textsOfFew = (parts: string, role: MessageRole): SearchedText[] | undefined => {
  const all = (JSON.parse(`[${parts}]`) as Part[]).map((part, index) => ({ part, index, leaves: leavesOfPart(part) }))
  const hasNumber = all.some(({ leaves }) => leaves.some((leaf) => typeof leaf === 'number'))
  if (hasNumber && UNUSUAL_NUMBER.test(parts)) return undefined
  return all.flatMap(({ part, index, leaves }) => {
    const text = cut(leaves.join('\n'))
    return text === '' ? [] : [{ place: placeOf(part.type, role), part: index, text }]
  })
}

/** Yields undefined between steps, so that no step takes long. */
function* allTexts({ role, text, parts }: StoredMessage): Generator<SearchedText | undefined, void> {
  if (text !== null) yield { place: ofRole[role], text: cut(JSON.parse(text) as string) }
  const few = parts !== null && parts.length < FEW ? textsOfFew(parts, role) : undefined
  if (few) return yield* few
  let part = 0
  for (const json of rawItemsInSteps(`[${parts ?? ''}]`)) {
    if (json === undefined) {
      yield
      continue
    }
    const whole = newCutText()
    for (const one of textsOf(json)) {
      if (one === undefined) yield
      else whole.add(one)
    }
    if (whole.text() !== '') yield { place: placeOf(typeIn(json), role), part, text: whole.text() }
    part += 1
  }
}

/**
 * Yields the texts of a message that are searched, and undefined between steps, so that no step takes long. Of a long text these are the
 * beginning and the end; parts without text are left out.
 */
export function* textsOfMessage(message: StoredMessage): Generator<SearchedText | undefined, void> {
  let left = MOST
  for (const text of allTexts(message)) {
    left -= text?.text.length ?? 0
    if (left < 0) return
    yield text
  }
}
