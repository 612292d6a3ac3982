import type pg from 'pg'

export type Client = Pick<pg.ClientBase, 'query'>

/** The newest event that a checkpoint stands behind: tells whether a log is still the one that was followed. */
export type Anchor = { readonly position: bigint; readonly id: string }

/** How far read models have come. */
export type Checkpoint = {
  readonly position: bigint
  /** Whether they have caught up once, have their indexes, and may serve. */
  readonly ready: boolean
  /** They stay where they are: too many events could not be applied. */
  readonly stopped: boolean
  /** The log's epoch in which they came that far; undefined at the beginning. */
  readonly epoch: string | undefined
  readonly anchor: Anchor | undefined
}

/**
 * Each step is a row of its own, so that nothing is rewritten: while a backup holds a snapshot the dead versions of one
 * row would make each step slower. A step from where another process has gone on already fails: its row is there. Queries
 * ask `reached` how far their snapshot is.
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
      raise exception 'the checkpoint is not at %', came_from using errcode = 'TB001';
    end if;
    insert into checkpoint values
      (came_from, next, last.ready, in_epoch, coalesce(event_at, last.event_position), coalesce(event, last.event_id));
  end $$;`

/** A step of the checkpoint, from where it is to where a batch ends. */
export type Step = {
  readonly from: bigint
  readonly through: bigint
  readonly epoch: string
  /** The last event of the batch; without one the anchor stays. */
  readonly anchor: Anchor | undefined
}

/** The statement that moves the checkpoint, to be sent within the batch's transaction. */
export const advance = ({ from, through, epoch, anchor }: Step) => ({
  name: 'advance',
  text: 'select advance($1, $2, $3, $4, $5)',
  values: [from, through, epoch, anchor?.position, anchor?.id],
})

/** Removes the steps between two others; the newest one has to stay. */
export const prune = (after: bigint, before: bigint) => ({
  text: 'delete from checkpoint where seen > $1 and seen < $2',
  values: [after, before],
})

/** Whether an error says that another process has moved the checkpoint. */
export const isCheckpointMoved = (error: unknown): boolean => {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === 'TB001' || (code === '23505' && constraint === 'checkpoint_pkey')
}

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

/** Tells all nodes that the read models stay where they are: reads need not wait for more. */
export const recordStop = (client: Client, schema: string): Promise<unknown> =>
  client.query(
    `insert into tracebook.processes select $1, max(position) from ${schema}.checkpoint
     on conflict (name) do update set position = excluded.position`,
    [stopName(schema)],
  )
