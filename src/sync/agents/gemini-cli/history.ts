import { digest } from '../../digest.ts'
import { isObject, type Json } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { withoutBinary } from '../support/media.ts'

/** A message where a line holds it: `index` is its place in the line's list of messages, undefined on a line of its own. */
type Found = { readonly id: string; readonly json: Json; readonly index?: number }

/** Where the last version of a message is, and its place among the messages of the session. */
type Place = { readonly line: number; readonly index: number | undefined; readonly order: number }

/** What has become of the messages that were written so far (README, rules 2 and 3), by id. `T` is noted for each. */
export type History<T> = { readonly places: Map<string, Place & { readonly note: T }>; written: number }

const idOf = (json: Json): string => {
  const { id } = json
  return typeof id === 'string' ? id : `message-${digest(JSON.stringify(withoutBinary(json)))}`
}

const inList = (messages: readonly unknown[]): Found[] =>
  messages.flatMap((json, index) => (isObject(json) ? [{ id: idOf(json), json, index }] : []))

/** The metadata of a record: of `$set`, of a document, or of a line with the session's id; undefined for all others. */
export const metadataOf = ({ json, number }: ObjectLine): Json | undefined => {
  if (typeof json['$rewindTo'] === 'string' || typeof json['id'] === 'string') return undefined
  if (isObject(json['$set'])) return json['$set']
  return number === 1 || typeof json['sessionId'] === 'string' ? json : undefined
}

/** The list of messages that replaces all others; undefined when the record holds none. */
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

export const newHistory = <T>(): History<T> => ({ places: new Map(), written: 0 })

const rewind = <T>({ places }: History<T>, id: string): void => {
  let reached = !places.has(id)
  for (const key of places.keys()) {
    reached ||= key === id
    if (reached) places.delete(key)
  }
}

/** Applies the next line. `noteOf` gives what is to be remembered of a message. */
export const applyLine = <T>(history: History<T>, line: ObjectLine, noteOf: (message: Json) => T): void => {
  const { $rewindTo: target } = line.json
  if (typeof target === 'string') return rewind(history, target)
  if (replacementIn(line)) history.places.clear()
  for (const { id, json, index } of messagesIn(line)) {
    const order = history.places.get(id)?.order ?? ++history.written
    history.places.set(id, { line: line.number, index, order, note: noteOf(json) })
  }
}
