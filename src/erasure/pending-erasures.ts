import type { Client, Step } from '../engine/checkpoint.ts'
import { movedBy } from '../engine/process-checkpoint.ts'
import type { RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import { MOVED } from './checkpoint.ts'

/** A deleted trace's stream: all that stands before the deletion has to go. */
export type Due = {
  readonly stream: string
  /** The deletion's revision, position and id; no id where an older version has noted it. */
  readonly before: bigint
  readonly position: bigint
  readonly eventId: string | null
  /** Why the last try failed. */
  readonly reason: string | null
}

/** The newest deletion of each stream among these events. */
export const deletionsOf = (events: readonly RecordedEvent[]): RecordedEvent[] => [
  ...new Map(events.filter(({ type }) => type === 'TraceDeleted').map((event) => [event.stream, event])).values(),
]

const noteStatement = `
  with ${MOVED}, noted as (
    insert into tracebook.erasures (stream, before_revision, position, requested_at, event_id)
    select d.* from unnest($6::text[], $7::int8[], $8::int8[], $9::int8[], $10::uuid[]) d
    where exists (select from moved)
    on conflict (stream) do update set before_revision = excluded.before_revision, position = excluded.position,
      event_id = excluded.event_id, attempts = 0, reason = null, next_at = '-infinity'
  ) select from moved`

/** Notes what is due and moves on, in one statement; false when another process has done so already. */
export const noteDue = async (client: Client, step: Step, deletions: readonly RecordedEvent[]): Promise<boolean> => {
  const columns = [
    deletions.map(({ stream }) => stream),
    deletions.map(({ revision }) => revision),
    deletions.map(({ position }) => position),
    deletions.map((event) => metadataOf(event).at),
    deletions.map(({ id }) => id),
  ]
  const { rowCount } = await client.query({ text: noteStatement, values: [...movedBy(step), ...columns] })
  return rowCount === 1
}

/** What is due and may be tried now, in the order in which it was deleted. */
export const dueNow = async (client: Client): Promise<Due[]> =>
  (
    await client.query<Due>(`
      select stream, before_revision as before, position, event_id as "eventId", reason from tracebook.erasures
      where next_at <= clock_timestamp() order by position`)
  ).rows

export const noteDone = (client: Client, { stream, before }: Due): Promise<unknown> =>
  client.query('delete from tracebook.erasures where stream = $1 and before_revision = $2', [stream, before])

const LONGEST_SECONDS = 300

/** Leaves the stream alone for a while: a second at first, five minutes in the end. */
export const noteFailure = (client: Client, { stream, before }: Due, reason: string): Promise<unknown> =>
  client.query(
    `update tracebook.erasures set attempts = attempts + 1, reason = $3,
       next_at = clock_timestamp() + make_interval(secs => least(power(2, least(attempts, 20)), ${LONGEST_SECONDS}))
     where stream = $1 and before_revision = $2`,
    [stream, before, reason],
  )
