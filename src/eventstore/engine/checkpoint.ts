import type pg from 'pg'
import { pause } from '../../base/waits.ts'
import type { Anchor } from '../log/log.ts'
import { SqlState, hasSqlState } from '../postgres/sql-state.ts'

export type Client = Pick<pg.ClientBase, 'query'>

export const anchorOf = (events: readonly Anchor[]): Anchor | undefined => {
  const last = events.at(-1)
  return last && { position: last.position, id: last.id }
}

/** The first pause between two looks at a checkpoint, and the longest one: each pause is twice the one before. */
const POLL_MS = 5
const MAX_POLL_MS = 160

/** How far a schema of read models has applied the log. */
export type Checkpoint = {
  readonly position: bigint
  /** Whether the read models have caught up once and have their indexes, so that queries may use them. */
  readonly ready: boolean
  /** Whether the runner has stopped, after too many events that cannot be applied. */
  readonly stopped: boolean
  /** The log's epoch when the checkpoint last moved; undefined at the beginning. */
  readonly epoch: string | undefined
  /** The last event that was applied. */
  readonly anchor: Anchor | undefined
}

/** A code of our own, for the exception of the function `advance`. */
const CHECKPOINT_MOVED = 'TB001'

/**
 * Each step of the checkpoint inserts a row instead of updating one: while a backup holds a snapshot, dead versions of one
 * row could not be removed and would slow each step down. `seen` is the position before the step, -1 in the first row; as
 * the primary key it lets only one process move on from a position. The view `reached` returns the position of a query's
 * snapshot.
 */
export const checkpointTables = `
  create table checkpoint (
    seen int8 primary key, position int8 not null, ready bool not null,
    epoch uuid, event_position int8, event_id uuid
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
  insert into checkpoint (seen, position, ready) values (-1, 0, false);
  create view reached as select position from checkpoint order by seen desc limit 1;
  create function advance(came_from int8, next int8, in_epoch uuid, event_at int8, event uuid)
  returns void language plpgsql as $$
  declare
    last checkpoint%rowtype;
  begin
    select * into last from checkpoint order by seen desc limit 1;
    if last.position <> came_from then
      raise exception 'the checkpoint is not at %', came_from using errcode = '${CHECKPOINT_MOVED}';
    end if;
    insert into checkpoint values
      (came_from, next, last.ready, in_epoch, coalesce(event_at, last.event_position), coalesce(event, last.event_id));
  end $$;`

/** A step of the checkpoint: from its current position to the end of a batch. */
export type Step = {
  readonly from: bigint
  readonly through: bigint
  readonly epoch: string
  /** The last event of the batch; undefined leaves the anchor as it is. */
  readonly anchor: Anchor | undefined
}

/** The statement that moves the checkpoint, to be sent within the batch's transaction. */
export const advance = ({ from, through, epoch, anchor }: Step) => ({
  name: 'advance',
  text: 'select advance($1, $2, $3, $4, $5)',
  values: [from, through, epoch, anchor?.position, anchor?.id],
})

/** The statement that removes the steps between two positions, both exclusive. The newest step must stay. */
export const prune = (after: bigint, before: bigint) => ({
  text: 'delete from checkpoint where seen > $1 and seen < $2',
  values: [after, before],
})

/** Whether an error says that another process has moved the checkpoint. */
export const isCheckpointMoved = (error: unknown): boolean => {
  const { constraint } = error as { constraint?: string }
  const isKeyTaken = hasSqlState(error, SqlState.uniqueViolation) && constraint === 'checkpoint_pkey'
  return isKeyTaken || hasSqlState(error, CHECKPOINT_MOVED)
}

/**
 * The name of a runner's stop in `tracebook.processes`. A stop is not a process, but stored there because no rebuild drops that
 * table and every node reads it.
 */
const stopName = (schema: string) => `stopped ${schema}`

type Row = {
  position: bigint
  ready: boolean
  stopped: boolean
  epoch: string | null
  event_position: bigint | null
  event_id: string | null
}

export const readCheckpoint = async (client: Client, schema: string): Promise<Checkpoint> => {
  const text = `
    select position, ready, epoch, event_position, event_id,
      exists (select from tracebook.processes p where p.name = $1 and p.position = c.position) as stopped
    from ${schema}.checkpoint c order by seen desc limit 1`
  const { position, ready, stopped, epoch, event_position, event_id } = (
    await client.query<Row>(text, [stopName(schema)])
  ).rows[0]!
  const anchor = event_id === null ? undefined : { position: event_position!, id: event_id }
  return { position, ready, stopped, epoch: epoch ?? undefined, anchor }
}

/** Waits until a schema, which need not exist yet, has reached a position. */
export const untilReached = async (client: Client, schema: string, position: bigint): Promise<void> => {
  for (let ms = POLL_MS; ; ms = Math.min(2 * ms, MAX_POLL_MS)) {
    const exists = `select to_regclass('${schema}.checkpoint') is not null as exists`
    const { rows } = await client.query<{ exists: boolean }>(exists)
    if (rows[0]!.exists && (await readCheckpoint(client, schema)).position >= position) return
    await pause(ms)
  }
}

/** Records for all nodes that the runner has stopped at this checkpoint, so that reads do not wait for it. */
export const recordStop = (client: Client, schema: string): Promise<unknown> =>
  client.query(
    `insert into tracebook.processes select $1, max(position) from ${schema}.checkpoint
     on conflict (name) do update set position = excluded.position`,
    [stopName(schema)],
  )
