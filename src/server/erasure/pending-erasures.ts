import type { Client, Step } from '../../eventstore/engine/checkpoint.ts'
import { advanceParameters } from '../../eventstore/engine/process-checkpoint.ts'
import type { EventLog, RecordedEvent } from '../../eventstore/log/log.ts'
import { metadataOf } from '../../eventstore/log/metadata.ts'
import { erasedBefore, erases } from '../trace/erased-before.ts'
import { MOVE_CHECKPOINT } from './checkpoint.ts'

/** A row of `tracebook.erasures`: a stream whose earlier events have to be erased, because its trace was deleted or its past erased. */
export type PendingErasure = {
  readonly stream: string
  /** The first revision that stays. */
  readonly before: bigint
  /** The position and the id of the event that erases them. */
  readonly position: bigint
  readonly eventId: string
  /** Why the last attempt failed. */
  readonly reason: string | null
}

/** An event that demands the erasure of all events in its stream before the revision `before`. */
type NewErasure = { readonly event: RecordedEvent; readonly before: bigint }

/** The erasures that these events demand: for each stream only the one of its newest event. */
export const erasuresIn = async (
  log: Pick<EventLog, 'read'>,
  events: readonly RecordedEvent[],
): Promise<NewErasure[]> => {
  const newest = new Map(events.filter(erases).map((event) => [event.stream, event]))
  const found: NewErasure[] = []
  for (const event of newest.values()) found.push({ event, before: await erasedBefore(log, event) })
  return found
}

const addStatement = `
  with ${MOVE_CHECKPOINT}, added as (
    insert into tracebook.erasures (stream, before_revision, position, requested_at, event_id)
    select d.* from unnest($6::text[], $7::int8[], $8::int8[], $9::int8[], $10::uuid[]) d
    where exists (select from moved)
    on conflict (stream) do update set before_revision = excluded.before_revision, position = excluded.position,
      event_id = excluded.event_id, attempts = 0, reason = null, next_at = '-infinity'
  ) select from moved`

/** Adds erasures and moves the checkpoint, in one statement. Returns false if another process has moved the checkpoint. */
export const addPending = async (client: Client, step: Step, erasures: readonly NewErasure[]): Promise<boolean> => {
  const columns = [
    erasures.map(({ event }) => event.stream),
    erasures.map(({ before }) => before),
    erasures.map(({ event }) => event.position),
    erasures.map(({ event }) => metadataOf(event).at),
    erasures.map(({ event }) => event.id),
  ]
  const { rowCount } = await client.query({ text: addStatement, values: [...advanceParameters(step), ...columns] })
  return rowCount === 1
}

/** The erasures that are due, in the order of their events. */
export const readPending = async (client: Client): Promise<PendingErasure[]> =>
  (
    await client.query<PendingErasure>(`
      select stream, before_revision as before, position, event_id as "eventId", reason from tracebook.erasures
      where next_at <= clock_timestamp() order by position`)
  ).rows

/** How many erasures are due. */
export const countDue = async (client: Client): Promise<number> =>
  (
    await client.query<{ due: number }>(
      'select count(*)::int4 as due from tracebook.erasures where next_at <= clock_timestamp()',
    )
  ).rows[0]!.due

export const deletePending = (client: Client, { stream, before }: PendingErasure): Promise<unknown> =>
  client.query('delete from tracebook.erasures where stream = $1 and before_revision = $2', [stream, before])

const MAX_BACKOFF_SECONDS = 300

/** Postpones an erasure that has failed: by a second at first, then doubled up to five minutes. */
export const postponePending = (client: Client, { stream, before }: PendingErasure, reason: string): Promise<unknown> =>
  client.query(
    `update tracebook.erasures set attempts = attempts + 1, reason = $3,
       next_at = clock_timestamp() + make_interval(secs => least(power(2, least(attempts, 20)), ${MAX_BACKOFF_SECONDS}))
     where stream = $1 and before_revision = $2`,
    [stream, before, reason],
  )

/** Makes failed erasures due at once: the process that starts may be of a newer version which can do them. */
export const retryAtOnce = (client: Client): Promise<unknown> =>
  client.query(`update tracebook.erasures set next_at = '-infinity' where next_at > clock_timestamp()`)
