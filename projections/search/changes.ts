import type { DecodedEvent } from '../../src/eventstore/engine/projection.ts'
import type { TraceEvent } from '../../src/server/trace/events.ts'
import { TRACE_ITSELF } from '../../src/tables/search.ts'

/** Why a row is to be written: the position of an event and its time, and whether it adds the row or changes it. */
export type Reason = { readonly position: bigint; readonly recordedAt: number; readonly isNew: boolean }

/** What a batch of events changes in the rows of a trace. */
type TraceChanges = {
  /** Rows that were added before this position are to be removed. */
  removedBefore: bigint | undefined
  /** The rows to be written, by ordinal, each with the first event that is the reason. */
  readonly docs: Map<number, Reason>
  /** Whether the column `of_trace` of all its rows is to be written again. */
  hasOtherValues: boolean
}

/** The changes of a batch of events, by the id of the trace. */
export type Changes = Map<string, TraceChanges>

type EventOf<Type extends TraceEvent['type']> = DecodedEvent<Extract<TraceEvent, { type: Type }>>

/** The changes of the trace that an event belongs to. */
const changesOf = (changes: Changes, { streamId }: DecodedEvent): TraceChanges => {
  let one = changes.get(streamId)
  if (!one) changes.set(streamId, (one = { removedBefore: undefined, docs: new Map(), hasOtherValues: false }))
  return one
}

const add = ({ docs }: TraceChanges, ordinal: number, { position, at }: DecodedEvent) =>
  void docs.set(ordinal, { position, recordedAt: at, isNew: true })

/** Notes that a row has to be written again. A row that is new in this batch is written anyway. */
const touch = ({ docs }: TraceChanges, ordinal: number, { position, at }: DecodedEvent) => {
  if (!docs.has(ordinal)) docs.set(ordinal, { position, recordedAt: at, isNew: false })
}

/** Fields by which one can filter: all rows of a trace have their values in `of_trace`. */
const FILTERED: ReadonlySet<string> = new Set(['/agentId', '/model', '/projectName', '/gitBranch', '/visibility'])
/** Fields whose words the row of the trace itself contains. */
const SEARCHED: ReadonlySet<string> = new Set(['/title', '/projectName', '/gitBranch'])

/** Notes that all rows of a trace that were added before an event have to be removed. */
const removeAll = (changes: Changes, event: DecodedEvent): TraceChanges => {
  const one = changesOf(changes, event)
  one.docs.clear()
  one.removedBefore = event.position
  one.hasOtherValues = false
  return one
}

export const traceCreated = (changes: Changes, event: EventOf<'TraceCreated'>): void =>
  add(changesOf(changes, event), TRACE_ITSELF, event)

export const traceUpdated = (changes: Changes, event: EventOf<'TraceUpdated'>): void => {
  const one = changesOf(changes, event)
  for (const { path } of event.data.patch) {
    one.hasOtherValues ||= FILTERED.has(path)
    if (SEARCHED.has(path)) touch(one, TRACE_ITSELF, event)
  }
}

export const traceSummarised = (changes: Changes, event: EventOf<'TraceSummarised'>): void =>
  touch(changesOf(changes, event), TRACE_ITSELF, event)

export const messageAdded = (changes: Changes, event: EventOf<'MessageAdded'>): void =>
  add(changesOf(changes, event), event.data.ordinal, event)

/** What of a message is not searched. */
const NOT_SEARCHED: ReadonlySet<string> = new Set(['/order', '/usage'])

/** A message is not written again if only such values have changed: otherwise many small upserts would read a large message many times. */
export const messageUpdated = (changes: Changes, event: EventOf<'MessageUpdated'>): void => {
  const { patch, ordinal } = event.data
  if (patch.some(({ path }) => !NOT_SEARCHED.has(path))) touch(changesOf(changes, event), ordinal, event)
}

export const traceDeleted = (changes: Changes, event: EventOf<'TraceDeleted'>): void => void removeAll(changes, event)

/** An erasure of the past gives all messages another incarnation: their rows are written again, as if this event had added them. */
export const historyErased = (changes: Changes, event: EventOf<'HistoryErased'>): void => {
  const one = removeAll(changes, event)
  add(one, TRACE_ITSELF, event)
  for (const [first, , count] of event.data.runs)
    for (let ordinal = first; ordinal < first + count; ordinal += 1) add(one, ordinal, event)
}
