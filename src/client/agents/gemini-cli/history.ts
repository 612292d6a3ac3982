import { digest } from '../../digest.ts'
import { isObject, type Json } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { withoutBinary } from '../support/media.ts'
import { count, type PromptTitle } from '../support/trace-fields.ts'

/** A message in a line: `index` is its place in the line's list of messages, undefined if it has a line of its own. */
type Found = { readonly id: string; readonly json: Json; readonly index?: number }

/** What the trace needs of a message: the model of an answer, or the title from a prompt. */
export type Note = { readonly model?: string | undefined; readonly prompt?: PromptTitle | undefined }

/** The place of the last version of a message, and its order among the messages of the session. */
type Place = {
  readonly line: number
  readonly index: number | undefined
  readonly order: number
  readonly note: Note
}

/** The places of the messages that were written so far, without those that were removed again (README, rules 2 and 3). */
export type History = {
  readonly places: Map<string, Place>
  written: number
  /** The line that has removed messages last. */
  removedAt: number
}

const idOf = (json: Json): string => {
  const { id } = json
  return typeof id === 'string' ? id : `message-${digest(JSON.stringify(withoutBinary(json)))}`
}

const inList = (messages: readonly unknown[]): Found[] =>
  messages.flatMap((json, index) => (isObject(json) ? [{ id: idOf(json), json, index }] : []))

/** The metadata of a record: of `$set`, of a document, or of a line with the session's id; undefined for other records. */
export const metadataOf = ({ json, number }: ObjectLine): Json | undefined => {
  if (typeof json['$rewindTo'] === 'string' || typeof json['id'] === 'string') return undefined
  if (isObject(json['$set'])) return json['$set']
  return number === 1 || typeof json['sessionId'] === 'string' ? json : undefined
}

/** Whether a line has the form of a record. */
export const isRecord = ({ id, sessionId, messages, $set, $rewindTo: target }: Json): boolean =>
  [id, sessionId, target].some((value) => typeof value === 'string') || Array.isArray(messages) || isObject($set)

/** The list of messages with which a record replaces all others; undefined for other records. */
const replacementIn = (line: ObjectLine): readonly unknown[] | undefined => {
  const messages = metadataOf(line)?.['messages']
  return Array.isArray(messages) ? messages : undefined
}

/** The messages of a line. */
export const messagesIn = (line: ObjectLine): readonly Found[] => {
  const { json } = line
  if (typeof json['$rewindTo'] === 'string') return []
  return typeof json['id'] === 'string' ? [{ id: json['id'], json }] : inList(replacementIn(line) ?? [])
}

export const newHistory = (): History => ({ places: new Map(), written: 0, removedAt: 0 })

const rewind = ({ places }: History, id: string): void => {
  let reached = !places.has(id)
  for (const key of places.keys()) {
    reached ||= key === id
    if (reached) places.delete(key)
  }
}

const put = (history: History, id: string, place: Omit<Place, 'order'>): void => {
  const order = history.places.get(id)?.order ?? ++history.written
  history.places.set(id, { ...place, order })
}

/** Applies the next line. `noteOf` gives what the trace needs of a message. */
export const applyLine = (history: History, line: ObjectLine, noteOf: (message: Json) => Note): void => {
  const { $rewindTo: target } = line.json
  const replaces = replacementIn(line) !== undefined
  if (typeof target === 'string' || replaces) history.removedAt = line.number
  if (typeof target === 'string') return rewind(history, target)
  if (replaces) history.places.clear()
  for (const { id, json, index } of messagesIn(line)) put(history, id, { line: line.number, index, note: noteOf(json) })
}

/** How often each model occurs, and the title from the first prompt. */
export const summaryOf = ({ places }: History) => {
  const inOrder = [...places.values()].sort((a, b) => a.order - b.order)
  const models = new Map<string, number>()
  for (const { note } of inOrder) if (note.model !== undefined) count(models, note.model)
  const prompts = inOrder.flatMap(({ note }) => note.prompt ?? [])
  return { models, title: (prompts.find(({ isWeak }) => !isWeak) ?? prompts[0])?.title }
}
