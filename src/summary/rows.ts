import type pg from 'pg'
import type { Step } from '../engine/checkpoint.ts'
import {
  type ProcessCheckpoint,
  advanceParameters,
  advanceStatement,
  readProcessCheckpoint,
} from '../engine/process-checkpoint.ts'
import { int8s, uuids } from '../postgres/arrays.ts'
import type { TimerChange, Tracked } from './react.ts'

/**
 * The process's tables: a row for each trace, its checkpoint, and its timers as jobs, all moved by one transaction.
 * Statements run on the one connection of the process.
 */

const NAME = 'summaries'
export const TASK = 'summarise'

/** The fold of the log up to a position, during which no timer is set; of the traces due then, those up to an id have theirs. */
export type Fold = { readonly until: bigint; readonly reached: string }

export type Progress = { readonly position: bigint; readonly fold: Fold | undefined }

/** What a job needs to know. Integers are text: they go through JSON. */
export type Payload = { traceId: string; incarnation: string; position: string; runAt: number }

/** Where the process stands; a process that starts without state has the log up to `head` to fold. */
export const progress = async (client: pg.ClientBase, head: bigint): Promise<Progress> => {
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
  return { position, fold: until === null || reached === null ? undefined : { until, reached } }
}

/** How far the process has come. */
export const reachedBy = (client: pg.ClientBase): Promise<ProcessCheckpoint> => readProcessCheckpoint(client, NAME)

/** Forgets all that was derived from the log. Jobs that are left find out that they are not due. */
export const startOver = (client: pg.ClientBase): Promise<unknown> =>
  client.query(`
    begin;
    delete from tracebook.summaries;
    delete from tracebook.summary_fold;
    delete from tracebook.processes where name = '${NAME}';
    commit;`)

/** Another process follows the log as well. Whoever notices stops. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved'
}

/** @throws CheckpointMoved when the checkpoint is not where this process has left it */
export const advance = async (client: pg.ClientBase, step: Step): Promise<void> => {
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

const toTracked = (row: Row): Tracked => ({
  incarnation: row.incarnation,
  messageCount: Number(row.message_count),
  summarised: row.summarised === null ? undefined : Number(row.summarised),
  timer:
    row.since === null || row.run_at === null ? undefined : { since: Number(row.since), runAt: Number(row.run_at) },
})

/** The rows of some traces, held against a job that gives up meanwhile. */
export const load = async (client: pg.ClientBase, ids: readonly string[]): Promise<Map<string, Tracked>> => {
  const { rows } = await client.query<Row>({
    name: 'summary-load',
    text: 'select * from tracebook.summaries where trace_id = any($1::uuid[]) order by trace_id for update',
    values: [uuids(ids)],
  })
  return new Map(rows.map((row) => [row.trace_id, toTracked(row)]))
}

/** Writes the rows as they are now; a trace without a state is gone. */
export const save = async (client: pg.ClientBase, states: ReadonlyMap<string, Tracked | undefined>): Promise<void> => {
  const kept = [...states].filter((entry): entry is [string, Tracked] => entry[1] !== undefined)
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

/** A job for each of these rows with a timer: under the trace's key, so that it replaces another. */
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

/** Sets and cancels timers: after `save`, whose rows say when. */
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

const FOLD_STEP = 1_000

const dueAfter = `
  select trace_id from tracebook.summaries where trace_id > $1 and run_at is not null order by trace_id limit ${FOLD_STEP}`

/**
 * One step of the fold's end: the next traces that are due get their timers, and the mark moves behind them. Under a
 * job's key the same again changes nothing. Gives the new mark; undefined once all have theirs, and the fold is over.
 * @throws CheckpointMoved when another process has moved the mark
 */
export const endFoldStep = async (
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

/** After a job's last failure: the next count event of the trace begins anew. */
export const giveUp = (pool: pg.Pool, { traceId, incarnation, runAt }: Payload): Promise<unknown> =>
  pool.query(
    `update tracebook.summaries set since = null, run_at = null
     where trace_id = $1 and incarnation = $2 and run_at = $3`,
    [traceId, incarnation, runAt],
  )
