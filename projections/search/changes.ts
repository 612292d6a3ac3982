import type { DecodedEvent } from '../../src/engine/projection.ts'
import type { TraceEvent } from '../../src/trace/events.ts'
import { TRACE_ITSELF } from './tables.ts'

/** What a batch of events changes in the rows of a trace. */
export type TraceChanges = {
  /** Rows that were added before this position are to be removed. */
  removedBefore: bigint | undefined
  /** The rows to be written, by ordinal; new ones with the position of their event, updated ones with undefined. */
  readonly docs: Map<number, bigint | undefined>
  /** Whether the column `of_trace` of all its rows is to be written again. */
  hasOtherValues: boolean
}

export type Changes = Map<string, TraceChanges>

type Of<Type extends TraceEvent['type']> = DecodedEvent<Extract<TraceEvent, { type: Type }>>

const changesOf = (changes: Changes, { streamId }: DecodedEvent): TraceChanges => {
  let one = changes.get(streamId)
  if (!one) changes.set(streamId, (one = { removedBefore: undefined, docs: new Map(), hasOtherValues: false }))
  return one
}

const touch = ({ docs }: TraceChanges, ordinal: number) => {
  if (!docs.has(ordinal)) docs.set(ordinal, undefined)
}

/** The fields of a trace whose values all its rows have, and those whose texts are searched. */
const FILTERED: ReadonlySet<string> = new Set(['/agentId', '/model', '/projectName', '/gitBranch', '/visibility'])
const SEARCHED: ReadonlySet<string> = new Set(['/title', '/projectName', '/gitBranch'])

const removeAll = (changes: Changes, event: DecodedEvent): TraceChanges => {
  const one = changesOf(changes, event)
  one.docs.clear()
  one.removedBefore = event.position
  one.hasOtherValues = false
  return one
}

export const traceCreated = (changes: Changes, event: Of<'TraceCreated'>): void =>
  void changesOf(changes, event).docs.set(TRACE_ITSELF, event.position)

export const traceUpdated = (changes: Changes, event: Of<'TraceUpdated'>): void => {
  const one = changesOf(changes, event)
  for (const { path } of event.data.patch) {
    one.hasOtherValues ||= FILTERED.has(path)
    if (SEARCHED.has(path)) touch(one, TRACE_ITSELF)
  }
}

export const traceSummarised = (changes: Changes, event: Of<'TraceSummarised'>): void =>
  touch(changesOf(changes, event), TRACE_ITSELF)

export const messageAdded = (changes: Changes, event: Of<'MessageAdded'>): void =>
  void changesOf(changes, event).docs.set(event.data.ordinal, event.position)

/** An update of the order alone changes no row: so a large message is not read again for each of many small upserts. */
export const messageUpdated = (changes: Changes, event: Of<'MessageUpdated'>): void => {
  const { patch, ordinal } = event.data
  if (patch.some(({ path }) => path !== '/order')) touch(changesOf(changes, event), ordinal)
}

export const traceDeleted = (changes: Changes, event: Of<'TraceDeleted'>): void => void removeAll(changes, event)

/** All messages get another incarnation: their rows are written again, as if this event had added them. */
export const historyErased = (changes: Changes, event: Of<'HistoryErased'>): void => {
  const { docs } = removeAll(changes, event)
  docs.set(TRACE_ITSELF, event.position)
  for (const [first, , count] of event.data.runs)
    for (let ordinal = first; ordinal < first + count; ordinal += 1) docs.set(ordinal, event.position)
}
