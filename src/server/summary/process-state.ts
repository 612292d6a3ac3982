import type pg from 'pg'
import type { Step } from '../../eventstore/engine/checkpoint.ts'
import {
  type ProcessCheckpoint,
  advanceParameters,
  advanceStatement,
  readProcessCheckpoint,
} from '../../eventstore/engine/process-checkpoint.ts'
import { int8s, uuids } from '../../eventstore/postgres/arrays.ts'
import type { TimerChange, TrackedTrace } from './reaction.ts'

/**
 * The stored state of the process manager: a row for each trace, its checkpoint, and its timers as jobs, all changed in one
 * transaction. Statements run on the one connection of the process.
 */

const NAME = 'summaries'
export const TASK = 'summarise'

/**
 * The catch-up (table `summary_fold`) of a process that starts without state. Before the position `until` no timers are set. From
 * then on the timers of due traces are set in the order of their ids; `reached` is the last id that was done.
 */
type CatchUp = { readonly until: bigint; readonly reached: string }

type Progress = { readonly position: bigint; readonly catchUp: CatchUp | undefined }

/** The payload of a job. Bigints are text, because the payload is stored as JSON. */
export type Payload = { traceId: string; incarnation: string; position: string; runAt: number }

/** The progress of the process. Without state it starts with a catch-up to `head`. */
export const readProgress = async (client: pg.ClientBase, head: bigint): Promise<Progress> => {
  await client.query(
    `with fresh as (insert into tracebook.processes values ('${NAME}', 0) on conflict do nothing returning 1)
     insert into tracebook.summary_fold (until) select $1 from fresh
     on conflict (one) do update set until = excluded.until, reached = default`,
    [head],
  )
  const { rows } = await client.query<{ position: bigint; until: bigint | null; reached: string | null }>(
    `select position, until, reached from tracebook.processes left join tracebook.summary_fold on true
     where name = '${NAME}'`,
  )
  const { position, until, reached } = rows[0]!
  return { position, catchUp: until === null || reached === null ? undefined : { until, reached } }
}

/** The checkpoint, with its event. */
export const readCheckpoint = (client: pg.ClientBase): Promise<ProcessCheckpoint> => readProcessCheckpoint(client, NAME)

/** Deletes everything that was derived from the log. Remaining jobs end without a summary, because none is due. */
export const startOver = (client: pg.ClientBase): Promise<unknown> =>
  client.query(`
    begin;
    delete from tracebook.summaries;
    delete from tracebook.summary_fold;
    delete from tracebook.processes where name = '${NAME}';
    commit;`)

/** Another process follows the log as well. The process that gets this error has to stop. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved'
}

/** @throws CheckpointMoved if another process has moved the checkpoint */
export const moveCheckpoint = async (client: pg.ClientBase, step: Step): Promise<void> => {
  const { rowCount } = await client.query({
    name: 'summary-advance',
    text: advanceStatement(NAME),
    values: advanceParameters(step),
  })
  if (rowCount !== 1) throw new CheckpointMoved()
}

type Row = {
  trace_id: string
  incarnation: bigint
  message_count: bigint
  summarised: bigint | null
  since: bigint | null
  run_at: bigint | null
}

const toTracked = (row: Row): TrackedTrace => ({
  incarnation: row.incarnation,
  messageCount: Number(row.message_count),
  summarised: row.summarised === null ? undefined : Number(row.summarised),
  timer:
    row.since === null || row.run_at === null ? undefined : { since: Number(row.since), runAt: Number(row.run_at) },
})

/** The states of these traces. Their rows are locked, because a job that gives up changes them. */
export const loadStates = async (client: pg.ClientBase, ids: readonly string[]): Promise<Map<string, TrackedTrace>> => {
  const { rows } = await client.query<Row>({
    name: 'summary-load',
    text: 'select * from tracebook.summaries where trace_id = any($1::uuid[]) order by trace_id for update',
    values: [uuids(ids)],
  })
  return new Map(rows.map((row) => [row.trace_id, toTracked(row)]))
}

/** Stores the states, and deletes the row of a trace without a state. */
export const saveStates = async (
  client: pg.ClientBase,
  states: ReadonlyMap<string, TrackedTrace | undefined>,
): Promise<void> => {
  const kept = [...states].filter((entry): entry is [string, TrackedTrace] => entry[1] !== undefined)
  const gone = [...states].flatMap(([id, state]) => (state ? [] : [id]))
  if (gone.length > 0)
    await client.query('delete from tracebook.summaries where trace_id = any($1::uuid[])', [uuids(gone)])
  if (kept.length === 0) return
  await client.query({
    name: 'summary-save',
    text: `insert into tracebook.summaries
      select * from unnest($1::uuid[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[])
      on conflict (trace_id) do update set incarnation = excluded.incarnation, message_count = excluded.message_count,
        summarised = excluded.summarised, since = excluded.since, run_at = excluded.run_at`,
    values: [
      uuids(kept.map(([id]) => id)),
      int8s(kept.map(([, state]) => state.incarnation)),
      int8s(kept.map(([, state]) => state.messageCount)),
      int8s(kept.map(([, state]) => state.summarised)),
      int8s(kept.map(([, { timer }]) => timer?.since)),
      int8s(kept.map(([, { timer }]) => timer?.runAt)),
    ],
  })
}

export type Schedule = { readonly attempts: number; readonly now: number }

/** Adds a job for each row with a timer. Its key is that of the trace, so that it replaces an earlier job. */
const addJobs = `
  select graphile_worker.add_jobs(array(
    select row('${TASK}',
      json_build_object('traceId', trace_id, 'incarnation', incarnation::text, 'position', $1::int8::text, 'runAt', run_at),
      null, now() + greatest(0, run_at - $2::int8) * interval '1 millisecond', $3::int2, '${TASK}:' || trace_id, null, null
    )::graphile_worker.job_spec from tracebook.summaries where run_at is not null and trace_id = any($4::uuid[])
  ))`

const setJobs = (
  client: pg.ClientBase,
  ids: readonly string[],
  position: bigint,
  { attempts, now }: Schedule,
): Promise<unknown> =>
  client.query({ name: 'summary-timers', text: addJobs, values: [position, now, attempts, uuids(ids)] })

/** Sets and cancels timers. Called after `saveStates`, because the times are read from the rows. */
export const setTimers = async (
  client: pg.ClientBase,
  timers: ReadonlyMap<string, TimerChange>,
  position: bigint,
  schedule: Schedule,
): Promise<void> => {
  const ids = (is: TimerChange['is']) => [...timers].flatMap(([id, timer]) => (timer.is === is ? [id] : []))
  const [set, cancelled] = [ids('set'), ids('cancel')]
  if (set.length > 0) await setJobs(client, set, position, schedule)
  if (cancelled.length === 0) return
  const text = `select graphile_worker.remove_job('${TASK}:' || id) from unnest($1::uuid[]) id`
  await client.query({ name: 'summary-cancel', text, values: [uuids(cancelled)] })
}

const TIMERS_PER_STEP = 1_000

const dueAfter = `
  select trace_id from tracebook.summaries where trace_id > $1 and run_at is not null order by trace_id limit ${TIMERS_PER_STEP}`

/**
 * Sets the timers of the next due traces after a catch-up, those with ids above `reached`. May be repeated, because jobs have keys.
 * Returns the new `reached`; undefined if all timers are set, and the catch-up has ended.
 * @throws CheckpointMoved if another process has done the same
 */
export const setNextTimers = async (
  client: pg.ClientBase,
  reached: string,
  position: bigint,
  schedule: Schedule,
): Promise<string | undefined> => {
  const { rows } = await client.query<{ trace_id: string }>(dueAfter, [reached])
  const last = rows.at(-1)?.trace_id
  const { rowCount } = last
    ? await client.query('update tracebook.summary_fold set reached = $2 where reached = $1', [reached, last])
    : await client.query('delete from tracebook.summary_fold where reached = $1', [reached])
  if (rowCount !== 1) throw new CheckpointMoved()
  const ids = rows.map(({ trace_id }) => trace_id)
  if (last) await setJobs(client, ids, position, schedule)
  return last
}

/** Clears a trace's timer if its job has failed for the last time, or found nothing due. The next messages set a new one. */
export const clearTimer = (pool: pg.Pool, { traceId, incarnation, runAt }: Payload): Promise<unknown> =>
  pool.query(
    `update tracebook.summaries set since = null, run_at = null
     where trace_id = $1 and incarnation = $2 and run_at = $3`,
    [traceId, incarnation, runAt],
  )
