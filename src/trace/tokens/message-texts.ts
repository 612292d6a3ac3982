import { rawItemsInSteps } from '../../base/json/raw-values.ts'
import type { MessageRole, PartType } from '../../contract/message.ts'
import { textsOf } from '../messages/part-texts.ts'
import type { Place, SearchedText } from './searched-text.ts'

/** Of a text so many characters are searched: at its beginning and at its end. */
const HEAD = 16 * 1024
const TAIL = 4 * 1024
/** Stands for what is left out between them. */
const GAP = '\n…\n'

/** Collects texts, line by line, of which it keeps the beginning and the end. */
const newCutText = () => {
  let [head, tail, isFirst, isCut] = ['', '', true, false]
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

const cut = (text: string): string => {
  const one = newCutText()
  one.add(text)
  return one.text()
}

const ofRole = { user: 'prompt', assistant: 'answer', system: 'system' } as const
const ofType = { thinking: 'thinking', tool_call: 'call', tool_result: 'output', error: 'output' } as const

const placeOf = (type: PartType, role: MessageRole): Place | 'system' => (type === 'text' ? ofRole[role] : ofType[type])

/** A message as it is stored: `text` and `parts` are JSON, of parts joined by commas. */
export type StoredMessage = { readonly role: MessageRole; readonly text: string | null; readonly parts: string | null }

const TYPE = /^\{"order":\d+,"type":"([a-z_]+)"/

const typeIn = (part: string): PartType =>
  (TYPE.exec(part)?.[1] ?? (JSON.parse(part) as { type: PartType }).type) as PartType

/**
 * The texts of a message in which people search, with undefined between steps, so that no step takes long. Of a long text the beginning
 * and the end; parts without a text have none.
 */
export function* textsOfMessage({ role, text, parts }: StoredMessage): Generator<SearchedText | undefined, void> {
  if (text !== null) yield { place: ofRole[role], text: cut(JSON.parse(text) as string) }
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
