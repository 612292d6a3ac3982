import type { Client } from '../engine/checkpoint.ts'
import type { Codec } from '../engine/codec.ts'
import { decodeEvent } from '../engine/decode-event.ts'
import { readProcessCheckpoint } from '../engine/process-checkpoint.ts'
import type { EventLog, RecordedEvent } from '../log/log.ts'
import { endedBy } from '../trace/earlier-deletions.ts'
import type { TraceEvent } from '../trace/events.ts'
import { NAME } from './checkpoint.ts'

/** A trace that was deleted, as the log tells it. Times are milliseconds. */
export type DeletedTrace = {
  readonly traceId: string
  readonly externalId: string
  readonly namespaceId: string
  readonly createdAt: number
  readonly deletedAt: number
  /** Undefined: by the service itself, because the namespace keeps traces for so long only. */
  readonly deletedBy: string | undefined
  /** Undefined for a deletion whose own event was erased with the next one of the same trace. */
  readonly messageCount: number | undefined
  /** Undefined when everything is erased. */
  readonly pending: PendingState | undefined
}

/** Why a deletion is not erased yet, as far as that is known, and how often it was tried in vain. */
export type PendingState = { readonly reason: string | undefined; readonly attempts: number }

/** What is still to be erased at one moment. */
export type ErasureState = {
  /** How far the process of erasure has read the log. */
  readonly position: bigint
  readonly pending: ReadonlyMap<string, PendingState & { readonly before: bigint }>
}

type PendingRow = { stream: string; before: bigint; reason: string | null; attempts: number }

/** The checkpoint is read first: a deletion that is taken over in between is in both. */
export const readErasureState = async (client: Client): Promise<ErasureState> => {
  const { position } = await readProcessCheckpoint(client, NAME)
  const { rows } = await client.query<PendingRow>(
    'select stream, before_revision as before, reason, attempts from tracebook.erasures',
  )
  const pending = rows.map(({ stream, reason, ...row }) => [stream, { ...row, reason: reason ?? undefined }] as const)
  return { position, pending: new Map(pending) }
}

/**
 * What must not be read from the log any more although it is not erased yet: by stream the revision of a deletion, before which
 * everything is to be left out.
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
  if (event.position > position) return { reason: 'no worker has come to it yet', attempts: 0 }
  const row = pending.get(event.stream)
  return row && row.before >= event.revision ? { reason: row.reason, attempts: row.attempts } : undefined
}

const NOTHING_OF_ITS_OWN = { messageCount: undefined, pending: undefined }

/**
 * All deletions that the log tells of, in its order; earlier ones of the same trace, whose own events are erased by now, before
 * the one that tells of them.
 * @throws UnknownEvent for a deletion that this version cannot read
 */
export async function* deletionsIn(
  log: Pick<EventLog, 'readAll'>,
  codec: Codec,
  state: ErasureState,
): AsyncGenerator<DeletedTrace> {
  const told = new Map<string, number[]>() // times of the deletions given, by stream
  for await (const event of log.readAll({ after: 0n })) {
    if (event.type !== 'TraceDeleted') continue
    const { data, at, actor, streamId: traceId } = decodeEvent(codec, event)
    const { externalId, namespaceId, messageCount } = data as Deleted
    const before = told.get(event.stream) ?? []
    const all = endedBy(data as Deleted, at, actor?.userId).newest
    const shared = { traceId, externalId, namespaceId }
    for (const [i, deletion] of all.entries()) {
      const isOwn = i === all.length - 1
      if (!isOwn && before.includes(deletion.deletedAt)) continue
      const own = isOwn ? { messageCount, pending: pendingState(state, event) } : NOTHING_OF_ITS_OWN
      yield { ...shared, ...deletion, deletedBy: deletion.deletedBy, ...own }
    }
    told.set(
      event.stream,
      all.map(({ deletedAt }) => deletedAt),
    )
  }
}
