import { digest } from '../../digest.ts'
import { type HashedMap, newHashedMap, type SavedMap } from '../support/hashed-map.ts'
import { isObject, type Json } from '../support/json.ts'
import { NeedsWhole } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { withoutBinary } from '../support/media.ts'
import { count } from '../support/trace-fields.ts'

/** A message in a line: `index` is its place in the line's list of messages, undefined if it has a line of its own. */
type Found = { readonly id: string; readonly json: Json; readonly index?: number }

/** What the trace needs of a message: the model of an answer, or the title from a prompt. */
export type Note = { readonly model?: string | undefined; readonly title?: string | undefined }

/**
 * The place of the last version of a message, and its order among the messages of the session. `isFromBefore`: an earlier version
 * comes before the saved state.
 */
type Place = {
  readonly line: number
  readonly index: number | undefined
  readonly order: number
  readonly note: Note
  readonly isFromBefore: boolean
}

/** A history as plain JSON. `known` holds the orders of all messages, `newest` notes of the last ones. */
export type SavedHistory = {
  readonly written: number
  readonly known: SavedMap
  readonly newest: readonly (readonly [string, Note])[]
  readonly models: readonly (readonly [string, number])[]
  readonly title?: string | undefined
}

/** The places of the messages that were written so far, without those that were removed again (README, rules 2 and 3). */
export type History = {
  readonly saved: SavedHistory | undefined
  readonly known: HashedMap
  readonly places: Map<string, Place>
  written: number
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

export const newHistory = (saved?: SavedHistory): History => ({
  saved,
  known: newHashedMap(saved?.known),
  places: new Map(),
  written: saved?.written ?? 0,
})

const rewind = ({ places }: History, id: string): void => {
  let reached = !places.has(id)
  for (const key of places.keys()) {
    reached ||= key === id
    if (reached) places.delete(key)
  }
}

/**
 * The order of a message that comes before the saved state; undefined for other messages. Throws NeedsWhole if its new version
 * may change the fields of the trace.
 */
const orderBefore = ({ saved, known }: History, id: string, note: Note): number | undefined => {
  const order = known.get(id)
  if (order === undefined) return undefined
  const before = saved?.newest.find(([one]) => one === id)?.[1]
  if (before?.model !== note.model || before?.title !== note.title) throw new NeedsWhole()
  return order
}

const put = (history: History, id: string, place: Pick<Place, 'line' | 'index' | 'note'>): void => {
  const { places } = history
  const earlier = places.get(id)
  const before = earlier?.isFromBefore === false ? undefined : orderBefore(history, id, place.note)
  const order = earlier?.order ?? before ?? ++history.written
  places.set(id, { ...place, order, isFromBefore: before !== undefined })
}

/** Applies the next line. `noteOf` gives what the trace needs of a message. */
export const applyLine = (history: History, line: ObjectLine, noteOf: (message: Json) => Note): void => {
  const { $rewindTo: target } = line.json
  const replaces = replacementIn(line) !== undefined
  if (history.saved && (typeof target === 'string' || replaces)) throw new NeedsWhole()
  if (typeof target === 'string') return rewind(history, target)
  if (replaces) history.places.clear()
  for (const { id, json, index } of messagesIn(line)) put(history, id, { line: line.number, index, note: noteOf(json) })
}

/** The model of most messages, each with how often it occurs, and the first prompt's title. */
export const summaryOf = ({ saved, places }: History): Pick<SavedHistory, 'models' | 'title'> => {
  const added = [...places.values()].filter(({ isFromBefore }) => !isFromBefore).sort((a, b) => a.order - b.order)
  const models = new Map(saved?.models)
  for (const { note } of added) if (note.model !== undefined) count(models, note.model)
  const title = saved?.title ?? added.find(({ note }) => note.title !== undefined)?.note.title
  return { models: [...models], title }
}

/**
 * Whether the messages so far are those after all lines. They are not where the last line changes them but has no newline yet: it
 * may still become another line.
 */
export const isFinal = ({ places }: History, { places: after }: History): boolean =>
  [...places].every(([id, { line }]) => after.get(id)?.line === line) &&
  [...after].every(([id, { isFromBefore }]) => places.has(id) || !isFromBefore)

/** How many messages may be written again before the whole session is read again. The last one often is, once its tools have ended. */
const NEWEST = 16

export const saveHistory = (history: History): SavedHistory => {
  const { saved, places, written } = history
  const known = newHashedMap(saved?.known)
  for (const [id, { order }] of places) known.set(id, order)
  const notes = new Map([...(saved?.newest ?? []), ...[...places].map(([id, { note }]) => [id, note] as const)])
  return { written, known: known.save(), newest: [...notes].slice(-NEWEST), ...summaryOf(history) }
}
