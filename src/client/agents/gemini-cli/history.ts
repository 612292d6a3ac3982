import { digest } from '../../digest.ts'
import { isObject, type Json } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { withoutBinary } from '../support/media.ts'
import { callIdsIn, isWealthier, resultIdsIn, type Wealth, wealthOf } from './wealth.ts'
import { count, type PromptTitle } from '../support/trace-fields.ts'

/**
 * A message in a line: `index` is its place in the line's list of messages, undefined if it has a line of its own. `isNamed`: the CLI has given
 * it the id.
 */
type Found = { readonly id: string; readonly json: Json; readonly index?: number; readonly isNamed: boolean }

/** What the trace needs of a message: the model of an answer, or the title from a prompt. */
export type Note = { readonly model?: string | undefined; readonly prompt?: PromptTitle | undefined }

/**
 * The place of the version of a message that counts, and its order among the messages of the session. `time` is that of its first version, `wealth` how
 * much the version says.
 */
type Place = {
  readonly line: number
  readonly index: number | undefined
  readonly isNamed: boolean
  readonly order: number
  readonly time: unknown
  readonly wealth: Wealth
  readonly note: Note
}

/** The places of the messages that were written so far, without those that were removed again (README, rules 2 and 3). */
export type History = {
  readonly places: Map<string, Place>
  /** The id of the message that has a call, or a result, by the call's id: each belongs to the first message with it (README, rule 12). */
  readonly calls: Map<string, string>
  readonly results: Map<string, string>
  written: number
  /** The line that has removed messages last. */
  removedAt: number
}

const inList = (messages: readonly unknown[]): Found[] =>
  messages.flatMap((json, index): Found[] => {
    if (!isObject(json)) return []
    const { id } = json
    return typeof id === 'string'
      ? [{ id, json, index, isNamed: true }]
      : [{ id: `message-${digest(JSON.stringify(withoutBinary(json)))}`, json, index, isNamed: false }]
  })

/** The metadata of a record: of `$set`, of a document, or of a line with the session's id; undefined for other records. */
export const metadataOf = ({ json, number }: ObjectLine): Json | undefined => {
  if (typeof json['$rewindTo'] === 'string' || typeof json['id'] === 'string') return undefined
  if (isObject(json['$set'])) return json['$set']
  return number === 1 || typeof json['sessionId'] === 'string' ? json : undefined
}

/** Whether a line has the form of a record. */
export const isRecord = ({ id, sessionId, messages, $set, $rewindTo: target }: Json): boolean =>
  [id, sessionId, target].some((value) => typeof value === 'string') || Array.isArray(messages) || isObject($set)

/** Whether an object in a damaged line is a record, and not one of the calls of a message, which have ids, too. */
export const isWholeRecord = (json: Json): boolean =>
  isRecord(json) && (typeof json['id'] !== 'string' || typeof json['type'] === 'string')

/** The list of messages with which a record states the session anew; undefined for other records. */
const replacementIn = (line: ObjectLine): readonly unknown[] | undefined => {
  const messages = metadataOf(line)?.['messages']
  return Array.isArray(messages) ? messages : undefined
}

/** The messages of a line. */
export const messagesIn = (line: ObjectLine): readonly Found[] => {
  const { json } = line
  if (typeof json['$rewindTo'] === 'string') return []
  return typeof json['id'] === 'string' ? [{ id: json['id'], json, isNamed: true }] : inList(replacementIn(line) ?? [])
}

export const newHistory = (): History => ({
  places: new Map(),
  calls: new Map(),
  results: new Map(),
  written: 0,
  removedAt: 0,
})

const rewind = ({ places }: History, id: string): void => {
  let reached = !places.has(id)
  for (const key of places.keys()) {
    reached ||= key === id
    if (reached) places.delete(key)
  }
}

/** Notes the calls and the results of a message, unless another message has them that still counts. */
const claim = ({ places }: History, owners: Map<string, string>, ids: readonly string[], messageId: string): void => {
  for (const id of ids) {
    const owner = owners.get(id)
    if (owner === undefined || !places.has(owner)) owners.set(id, messageId)
  }
}

/**
 * Puts a message of a line in its place. Of a message that is known, a list has the version that the CLI gives the model, in which calls are
 * parts of the content, and models, tokens and times are missing: it counts only where it says more (README, rule 12).
 */
const put = (history: History, { id, json, index, isNamed }: Found, line: number, note: Note): void => {
  const known = history.places.get(id)
  const wealth = wealthOf(json)
  if (known && index !== undefined && known.line !== line && !isWealthier(wealth, known.wealth)) return
  const order = known?.order ?? ++history.written
  history.places.set(id, { line, index, isNamed, order, time: known?.time ?? json['timestamp'], wealth, note })
  claim(history, history.calls, callIdsIn(json), id)
  claim(history, history.results, resultIdsIn(json), id)
}

/** Removes what a new list leaves out: only messages without ids, because those with ids are rewound if they no longer count. */
const removeUnnamed = ({ places }: History, found: readonly Found[]): void => {
  const listed = new Set(found.map(({ id }) => id))
  for (const [id, { isNamed }] of places) if (!isNamed && !listed.has(id)) places.delete(id)
}

/** Applies the next line. `noteOf` gives what the trace needs of a message. */
export const applyLine = (history: History, line: ObjectLine, noteOf: (message: Json) => Note): void => {
  const { $rewindTo: target } = line.json
  const replaces = replacementIn(line) !== undefined
  if (typeof target === 'string' || replaces) history.removedAt = line.number
  if (typeof target === 'string') return rewind(history, target)
  const found = messagesIn(line)
  if (replaces) removeUnnamed(history, found)
  for (const one of found) put(history, one, line.number, noteOf(one.json))
}

/** How often each model occurs, and the title from the first prompt. */
export const summaryOf = ({ places }: History) => {
  const inOrder = [...places.values()].sort((a, b) => a.order - b.order)
  const models = new Map<string, number>()
  for (const { note } of inOrder) if (note.model !== undefined) count(models, note.model)
  const prompts = inOrder.flatMap(({ note }) => note.prompt ?? [])
  return { models, title: (prompts.find(({ isWeak }) => !isWeak) ?? prompts[0])?.title }
}
