import type { Client, Step } from '../engine/checkpoint.ts'
import { advanceParameters } from '../engine/process-checkpoint.ts'
import type { RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import { MOVE_CHECKPOINT } from './checkpoint.ts'

/** The stream of a deleted trace whose events before the deletion are not erased yet; a row of `tracebook.erasures`. */
export type PendingErasure = {
  readonly stream: string
  /** The revision, position and id of the deletion; `eventId` is null in rows of an older version. */
  readonly before: bigint
  readonly position: bigint
  readonly eventId: string | null
  /** Why the last attempt failed. */
  readonly reason: string | null
}

/** The newest deletion of each stream among these events. */
export const deletionsOf = (events: readonly RecordedEvent[]): RecordedEvent[] => [
  ...new Map(events.filter(({ type }) => type === 'TraceDeleted').map((event) => [event.stream, event])).values(),
]

const addStatement = `
  with ${MOVE_CHECKPOINT}, added as (
    insert into tracebook.erasures (stream, before_revision, position, requested_at, event_id)
    select d.* from unnest($6::text[], $7::int8[], $8::int8[], $9::int8[], $10::uuid[]) d
    where exists (select from moved)
    on conflict (stream) do update set before_revision = excluded.before_revision, position = excluded.position,
      event_id = excluded.event_id, attempts = 0, reason = null, next_at = '-infinity'
  ) select from moved`

/** Adds erasures and moves the checkpoint, in one statement. Returns false if another process has moved the checkpoint. */
export const addPending = async (client: Client, step: Step, deletions: readonly RecordedEvent[]): Promise<boolean> => {
  const columns = [
    deletions.map(({ stream }) => stream),
    deletions.map(({ revision }) => revision),
    deletions.map(({ position }) => position),
    deletions.map((event) => metadataOf(event).at),
    deletions.map(({ id }) => id),
  ]
  const { rowCount } = await client.query({ text: addStatement, values: [...advanceParameters(step), ...columns] })
  return rowCount === 1
}

/** The erasures that are due, in the order of the deletions. */
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
