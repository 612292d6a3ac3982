import type pg from 'pg'
import type { EventLog, RecordedEvent } from '../log/log.ts'
import { hangUp } from '../postgres/connect.ts'
import type { Codec } from './codec.ts'
import { type Group, ensureSchema, finishSchema, noteUse, readCheckpoint, schemaOf } from './read-models.ts'
import { applyBatch, connectForApplying, happened } from './runner.ts'
import { assertSameLog } from './same-log.ts'

const BATCH_EVENTS = 1_000
const BATCH_LENGTH = 8 * 1024 * 1024
const SWAP_LOCK = `hashtext('tracebook swap')`

export type RebuildOptions = {
  readonly url: string
  readonly group: Group
  readonly log: EventLog
  readonly codec: Codec
  /** Called after each batch with how far the new schema has come, and how far it has to go. */
  readonly progress?: (position: bigint, goal: bigint) => void
}

const weight = (events: readonly RecordedEvent[]) => events.reduce((sum, event) => sum + event.data.length, 0)

const closesAppend = ({ metadata }: RecordedEvent) => {
  const { index, size } = (JSON.parse(metadata) as { append: { index: number; size: number } }).append
  return index === size - 1
}

/** Applies the log to a schema up to a position at which the serving one stands, batch by batch. */
const catchUp = async (client: pg.Client, schema: string, goal: bigint, options: RebuildOptions): Promise<void> => {
  const { group, log, codec, progress } = options
  let { position } = await readCheckpoint(client, schema)
  let batch: RecordedEvent[] = []
  const flush = async (through: bigint) => {
    if (through <= position) return
    await applyBatch(
      client,
      group,
      batch.map((event) => happened(codec, event)),
      position,
      through,
    )
    position = through
    batch = []
    progress?.(position, goal)
  }
  for await (const event of log.readAll({ after: position })) {
    if (event.position > goal) break
    batch.push(event)
    const isFull = batch.length >= BATCH_EVENTS || weight(batch) >= BATCH_LENGTH
    if (isFull && closesAppend(event)) await flush(event.position)
  }
  await flush(goal)
}

const swap = async (client: pg.Client, schema: string, side: string) => {
  await client.query('begin')
  await client.query(`alter schema ${schema} rename to ${schema}_old`)
  await client.query(`alter schema ${side} rename to ${schema}`)
  await client.query(`drop schema ${schema}_old cascade`)
  await client.query('commit')
}

/**
 * Builds the read models of the running version anew beside those that serve, and puts them in their place by renaming:
 * open readers pass, prepared statements plan anew (architecture: Projections). Only the last batch holds up the runner.
 */
export const rebuild = async (options: RebuildOptions): Promise<void> => {
  const { url, group, log } = options
  const schema = schemaOf(group)
  await assertSameLog(url, schema, log)
  const side = `${schema}_next`
  const client = await connectForApplying(url, side)
  try {
    const { rows } = await client.query(`select pg_try_advisory_lock(hashtext('tracebook rebuild ${schema}')) as mine`)
    if (!rows[0].mine) throw new Error('another rebuild is running')
    await noteUse(client, schema)
    await client.query(`drop schema if exists ${side} cascade`)
    await ensureSchema(client, group, side)
    const served = async () => (await readCheckpoint(client, schema)).position
    await catchUp(client, side, await served(), options)
    await finishSchema(client, group, side)
    await catchUp(client, side, await served(), options)
    await client.query(`select pg_advisory_lock(${SWAP_LOCK})`)
    await catchUp(client, side, await served(), options)
    await swap(client, schema, side)
  } finally {
    await hangUp(client)
  }
}
