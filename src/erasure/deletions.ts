import type { Client } from '../engine/checkpoint.ts'
import type { Codec } from '../engine/codec.ts'
import { decodeEvent } from '../engine/decode-event.ts'
import { readProcessCheckpoint } from '../engine/process-checkpoint.ts'
import type { EventLog, RecordedEvent } from '../log/log.ts'
import { endedBy } from '../trace/earlier-deletions.ts'
import type { TraceEvent } from '../trace/events.ts'
import { NAME } from './checkpoint.ts'

/** A trace that was deleted, from its event in the log. Times are milliseconds. */
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
  /** Undefined when everything is erased. */
  readonly pending: PendingState | undefined
}

/** Why a deletion is not erased yet, if that is known, and how many attempts have failed. */
export type PendingState = { readonly reason: string | undefined; readonly attempts: number }

/** The pending erasures at one moment. */
export type ErasureState = {
  /** The position up to which the process of erasure has read the log. */
  readonly position: bigint
  readonly pending: ReadonlyMap<string, PendingState & { readonly before: bigint }>
}

type PendingRow = { stream: string; before: bigint; reason: string | null; attempts: number }

/** Reads the checkpoint first, so that a deletion which the process reads meanwhile is in both and not in neither. */
export const readErasureState = async (client: Client): Promise<ErasureState> => {
  const { position } = await readProcessCheckpoint(client, NAME)
  const { rows } = await client.query<PendingRow>(
    'select stream, before_revision as before, reason, attempts from tracebook.erasures',
  )
  const pending = rows.map(({ stream, reason, ...row }) => [stream, { ...row, reason: reason ?? undefined }] as const)
  return { position, pending: new Map(pending) }
}

/**
 * The events of deleted traces that are still in the log but must not be shown: by stream the revision of its deletion, before
 * which all events are to be left out.
 */
export const deletedBefore = async (
  log: Pick<EventLog, 'readAll'>,
  { position, pending }: ErasureState,
): Promise<ReadonlyMap<string, bigint>> => {
  const found = new Map([...pending].map(([stream, { before }]) => [stream, before]))
  for await (const { type, stream, revision } of log.readAll({ after: position }))
    if (type === 'TraceDeleted') found.set(stream, revision)
  return found
}

type Deleted = Extract<TraceEvent, { type: 'TraceDeleted' }>['data']

const pendingState = ({ position, pending }: ErasureState, event: RecordedEvent): PendingState | undefined => {
  if (event.position > position) return { reason: 'no worker has read this deletion yet', attempts: 0 }
  const row = pending.get(event.stream)
  return row && row.before >= event.revision ? { reason: row.reason, attempts: row.attempts } : undefined
}

const NOTHING_OF_ITS_OWN = { messageCount: undefined, pending: undefined }

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
  for await (const event of log.readAll({ after: 0n })) {
    if (event.type !== 'TraceDeleted') continue
    const { data, at, actor, streamId: traceId } = decodeEvent(codec, event)
    const { externalId, namespaceId, messageCount } = data as Deleted
    const before = listed.get(event.stream) ?? []
    const all = endedBy(data as Deleted, at, actor?.userId).newest
    const shared = { traceId, externalId, namespaceId }
    for (const [i, deletion] of all.entries()) {
      const isOwn = i === all.length - 1
      if (!isOwn && before.includes(deletion.deletedAt)) continue
      const own = isOwn ? { messageCount, pending: pendingState(state, event) } : NOTHING_OF_ITS_OWN
      yield { ...shared, ...deletion, deletedBy: deletion.deletedBy, ...own }
    }
    listed.set(
      event.stream,
      all.map(({ deletedAt }) => deletedAt),
    )
  }
}
