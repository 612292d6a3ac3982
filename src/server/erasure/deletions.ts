import type { Client } from '../../eventstore/engine/checkpoint.ts'
import type { Codec } from '../../eventstore/engine/codec.ts'
import { decodeEvent } from '../../eventstore/engine/decode-event.ts'
import type { DecodedEvent } from '../../eventstore/engine/projection.ts'
import { readProcessCheckpoint } from '../../eventstore/engine/process-checkpoint.ts'
import type { EventLog, RecordedEvent } from '../../eventstore/log/log.ts'
import { earlierDeletions } from '../trace/earlier-deletions.ts'
import { erasedBefore, erases } from '../trace/erased-before.ts'
import type { TraceEvent } from '../trace/events.ts'
import { ERASURE_CHECKPOINT } from './checkpoint.ts'

/** A deletion of a trace, or an erasure of its past, as its event in the log says. Times are milliseconds since 1970. */
export type DeletedTrace = {
  readonly traceId: string
  readonly externalId: string
  readonly namespaceId: string
  readonly createdAt: number
  readonly deletedAt: number
  /** Undefined if retention has deleted it. */
  readonly deletedBy: string | undefined
  /** Undefined for an earlier deletion, whose own event was erased with a later one of the same trace. */
  readonly messageCount: number | undefined
  /** Whether only its past was erased. Such an erasure is listed until it is done. */
  readonly isPast?: true | undefined
  /** Undefined when everything is erased. */
  readonly pending: PendingState | undefined
}

/** Why a deletion is not erased yet, if that is known, and how many attempts have failed. */
type PendingState = { readonly reason: string | undefined; readonly attempts: number }

/** The pending erasures at one moment. */
type ErasureState = {
  /** The position up to which the process of erasure has read the log. */
  readonly position: bigint
  readonly pending: ReadonlyMap<string, PendingState & { readonly before: bigint; readonly at: bigint }>
}

type PendingRow = { stream: string; before: bigint; at: bigint; reason: string | null; attempts: number }

/**
 * Reads the state of erasure. It reads the checkpoint before the pending erasures: a deletion that the process adds meanwhile is then among the
 * pending ones and also after the checkpoint. In the other order it could be in neither.
 */
export const readErasureState = async (client: Client): Promise<ErasureState> => {
  const { position } = await readProcessCheckpoint(client, ERASURE_CHECKPOINT)
  const { rows } = await client.query<PendingRow>(
    'select stream, before_revision as before, position as at, reason, attempts from tracebook.erasures',
  )
  const pending = rows.map(({ stream, reason, ...row }) => [stream, { ...row, reason: reason ?? undefined }] as const)
  return { position, pending: new Map(pending) }
}

/**
 * The events of deleted traces and erased pasts that are still in the log but must not be shown: by stream the revision before
 * which all events are to be left out.
 */
export const deletedBefore = async (
  log: Pick<EventLog, 'readAll' | 'read'>,
  { position, pending }: ErasureState,
): Promise<ReadonlyMap<string, bigint>> => {
  const found = new Map([...pending].map(([stream, { before }]) => [stream, before]))
  for await (const event of log.readAll({ after: position }))
    if (erases(event)) found.set(event.stream, await erasedBefore(log, event))
  return found
}

type ErasureEvent = Extract<TraceEvent, { type: 'TraceDeleted' | 'HistoryErased' }>

const pendingState = ({ position, pending }: ErasureState, event: RecordedEvent): PendingState | undefined => {
  if (event.position > position) return { reason: 'no worker has read this deletion yet', attempts: 0 }
  const row = pending.get(event.stream)
  return row && row.at >= event.position ? { reason: row.reason, attempts: row.attempts } : undefined
}

/** An earlier deletion, whose event is erased, has no count of messages and nothing pending. */
const EARLIER = { messageCount: undefined, pending: undefined }

/** The entry for the event itself; undefined for an erased past whose erasure is done. */
const ownOf = (event: DecodedEvent<ErasureEvent>, pending: PendingState | undefined) => {
  const { type, data, at, actor } = event
  const { createdAt, messageCount } = data
  const own = { createdAt, deletedAt: at, deletedBy: actor?.userId, messageCount, pending }
  if (type === 'TraceDeleted') return { ...own, isPast: undefined }
  return pending && { ...own, isPast: true as const }
}

/**
 * All deletions in the log, in its order. Earlier deletions of the same trace, whose own events are erased by now, are in the data
 * of a later one and come before it.
 * @throws UnknownEvent for a deletion that this version cannot read
 */
export async function* deletionsIn(
  log: Pick<EventLog, 'readAll'>,
  codec: Codec,
  state: ErasureState,
): AsyncGenerator<DeletedTrace> {
  const listed = new Map<string, number[]>() // by stream, the times of the deletions that were yielded
  for await (const recorded of log.readAll({ after: 0n })) {
    if (!erases(recorded)) continue
    const event = decodeEvent(codec, recorded) as DecodedEvent<ErasureEvent>
    const { externalId, namespaceId } = event.data
    const before = listed.get(event.stream) ?? []
    const own = ownOf(event, pendingState(state, recorded))
    const earlier = earlierDeletions(event.data).newest
    const shared = { traceId: event.streamId, externalId, namespaceId }
    for (const deletion of earlier)
      if (!before.includes(deletion.deletedAt))
        yield { ...shared, ...deletion, deletedBy: deletion.deletedBy, ...EARLIER }
    if (own) yield { ...shared, ...own }
    listed.set(event.stream, [
      ...earlier.map(({ deletedAt }) => deletedAt),
      ...(own && !own.isPast ? [own.deletedAt] : []),
    ])
  }
}
