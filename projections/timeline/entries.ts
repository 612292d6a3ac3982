import type { DecodedEvent } from '../../src/eventstore/engine/projection.ts'
import type { TraceEvent } from '../../src/server/trace/events.ts'
import { type Erasing, deletionData } from './recorded-entries.ts'
import { isOfUsage } from '../../src/server/trace/messages/message.ts'
import { MESSAGES_UPSERTED } from '../../src/tables/timeline.ts'

/** A row of `entries`, to which events of its append may still be added. */
export type Entry = {
  readonly streamId: string
  /** Undefined for the later entries of a trace, which get the namespace of the trace. */
  readonly namespaceId: string | undefined
  readonly firstRevision: bigint
  readonly at: number
  readonly type: string
  readonly actor: string | undefined
  readonly requestId: string | undefined
  readonly appendId: string
  revision: bigint
  position: bigint
  through: bigint
  added: number | undefined
  updated: number | undefined
  readonly adds: [ordinal: number, revision: number, length: number][]
  readonly updates: [ordinal: number, revision: number, moved: 0 | 1][]
  /** Whether it has changed nothing but the usage of messages, which moves no `updatedAt`. */
  isOfUsage: boolean
  data: object | undefined
}

/** A run of restated messages of one append: `revision` is that of the first one. */
export type RestatedRun = {
  readonly streamId: string
  readonly appendId: string
  readonly since: number
  readonly ordinal: number
  readonly revision: bigint
  length: number
}

/** The changes of a batch. */
export type Changes = {
  entries: Entry[]
  /** The last entry of each stream. */
  readonly last: Map<string, Entry>
  /** Traces by id, with the ids of their namespaces. */
  readonly traces: Map<string, string>
  /** The newest deletion or erasure of the past of each trace. */
  readonly erasing: Map<string, Erasing>
  readonly restated: RestatedRun[]
}

const entryOf = (event: DecodedEvent, namespaceId: string | undefined, type: string, data?: object): Entry => ({
  streamId: event.streamId,
  namespaceId,
  firstRevision: event.firstRevision,
  revision: event.revision,
  through: event.revision,
  position: event.position,
  at: event.at,
  type,
  actor: event.actor?.userId,
  requestId: event.requestId,
  appendId: event.appendId,
  added: undefined,
  updated: undefined,
  adds: [],
  updates: [],
  isOfUsage: false,
  data,
})

const add = (changes: Changes, entry: Entry) => {
  changes.entries.push(entry)
  changes.last.set(entry.streamId, entry)
}

/** The entry of a request's messages: requests that share an append have entries of their own. */
const messagesEntry = (changes: Changes, event: DecodedEvent): Entry => {
  const last = changes.last.get(event.streamId)
  const { appendId, requestId, actor } = event
  const isSame =
    last?.type === MESSAGES_UPSERTED &&
    last.appendId === appendId &&
    last.requestId === requestId &&
    last.actor === actor?.userId
  if (isSame) {
    last.revision = event.revision
    last.position = event.position
    return last
  }
  const entry = { ...entryOf(event, undefined, MESSAGES_UPSERTED), added: 0, updated: 0, isOfUsage: true }
  add(changes, entry)
  return entry
}

/** A run of messages is stored by its first one: the revisions and ordinals of the others follow without a gap. */
export const messageAdded = (changes: Changes, event: DecodedEvent<Extract<TraceEvent, { type: 'MessageAdded' }>>) => {
  const entry = messagesEntry(changes, event)
  const revision = Number(event.revision)
  const run = entry.adds.at(-1)
  if (run && run[1] + run[2] === revision) run[2] += 1
  else entry.adds.push([event.data.ordinal, revision, 1])
  entry.added! += 1
  entry.isOfUsage = false
}

const PLACED_BY: ReadonlySet<string> = new Set(['/order', '/timestamp'])

export const messageUpdated = (
  changes: Changes,
  event: DecodedEvent<Extract<TraceEvent, { type: 'MessageUpdated' }>>,
) => {
  const entry = messagesEntry(changes, event)
  const { ordinal, patch } = event.data
  entry.updates.push([ordinal, Number(event.revision), patch.some(({ path }) => PLACED_BY.has(path)) ? 1 : 0])
  entry.updated! += 1
  entry.isOfUsage &&= isOfUsage(patch)
}

export const messagesCounted = (changes: Changes, event: DecodedEvent) => {
  messagesEntry(changes, event).data = event.data
}

/** Invite codes are secrets: only enough of a code is shown to distinguish it. */
export const withMaskedCode = <Data extends { code?: string | undefined }>(data: Data): Data =>
  data.code === undefined ? data : { ...data, code: `${data.code.slice(0, 4)}…` }

/** An entry of a namespace. */
export const ofNamespace = (changes: Changes, event: DecodedEvent, data: object = event.data) =>
  add(changes, entryOf(event, event.streamId, event.type, data))

export const traceCreated = (changes: Changes, event: DecodedEvent<Extract<TraceEvent, { type: 'TraceCreated' }>>) => {
  const { namespaceId } = event.data
  changes.traces.set(event.streamId, namespaceId)
  add(changes, entryOf(event, namespaceId, event.type, event.data))
}

/** A later entry of a trace. */
export const ofTrace = (changes: Changes, event: DecodedEvent) =>
  add(changes, entryOf(event, undefined, event.type, event.data))

/** Adds the entry of an event, and removes all earlier entries of its trace. */
const replaceAll = (changes: Changes, event: Erasing, data: object): void => {
  const { streamId } = event
  const { namespaceId } = event.data
  changes.entries = changes.entries.filter((entry) => entry.streamId !== streamId)
  changes.traces.set(streamId, namespaceId)
  changes.erasing.set(streamId, event)
  add(changes, entryOf(event, namespaceId, event.type, data))
}

export const traceDeleted = (changes: Changes, event: DecodedEvent<Extract<TraceEvent, { type: 'TraceDeleted' }>>) => {
  replaceAll(changes, event, deletionData(event.data))
}

export const messageRestated = (
  { restated }: Changes,
  { streamId, appendId, revision, data }: DecodedEvent<Extract<TraceEvent, { type: 'MessageRestated' }>>,
) => {
  const { since, ordinal } = data
  const run = restated.at(-1)
  const continues =
    run?.streamId === streamId &&
    run.appendId === appendId && // so that runs do not depend on where batches end
    run.ordinal + run.length === ordinal &&
    run.revision + BigInt(run.length) === revision
  if (continues) run.length += 1
  else restated.push({ streamId, appendId, since, ordinal, revision, length: 1 })
}

/** The entry has the state of the trace after the erasure. Where its messages are in the log is in `restated_runs`. */
export const historyErased = (changes: Changes, event: DecodedEvent<Extract<TraceEvent, { type: 'HistoryErased' }>>) =>
  replaceAll(changes, event, { ...event.data, runs: [], past: [] })
