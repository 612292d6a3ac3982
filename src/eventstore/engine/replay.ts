import type pg from 'pg'
import type { EventLog, RecordedEvent } from '../log/log.ts'
import { endLeaderSession } from '../postgres/leader.ts'
import type { Target } from './apply.ts'
import { appendsOf, applyAppend } from './apply-by-append.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { Codec } from './codec.ts'
import { type Group, schemaOf } from './group.ts'
import type { WriteStatement } from './projection.ts'
import { type QuarantinedStream, insertQuarantined } from './quarantine.ts'
import { locks } from './schema.ts'
import { skippedOf } from './skip-events.ts'
import { streamIdOf } from './stream.ts'

const CHUNK_EVENTS = 1_000

/** Deletes all rows that were made from a stream's events. */
const clear = async ({ client, group }: Target, stream: string) => {
  const category = stream.slice(0, stream.indexOf('-'))
  const write: WriteStatement = (name, text, values) =>
    void sent.push(client.query({ name, text, values: [...values] }))
  const sent: Promise<unknown>[] = []
  for (const { beforeRemoval, beforeReplay } of group.projections)
    for (const before of [beforeRemoval, beforeReplay]) before?.[category]?.(streamIdOf({ stream }), write)
  for (const { rows } of group.projections)
    for (const [table, owners] of Object.entries(rows)) {
      const column = owners[category]
      if (column) write('', `delete from ${table} where ${column} = $1`, [streamIdOf({ stream })])
    }
  await Promise.all(sent)
  await client.query('delete from quarantine where stream = $1', [stream])
}

/** The stream's appends up to a position, in chunks of whole appends. */
async function* chunksOf(log: EventLog, stream: string, through: bigint) {
  let chunk: RecordedEvent[] = []
  for await (const event of log.read(stream)) {
    if (event.position > through) break
    // A new append begins: the chunk can end here.
    if (chunk.length >= CHUNK_EVENTS && appendsOf([chunk.at(-1)!, event]).length > 1) {
      yield chunk
      chunk = []
    }
    chunk.push(event)
  }
  if (chunk.length > 0) yield chunk
}

/**
 * Replaces the rows of one stream by those that its events up to a position give, within an open transaction, without skipped
 * events. If an event cannot be applied, the stream goes into quarantine there, and the event is returned.
 */
export const replayStream = async (
  target: Target,
  { log, codec }: { readonly log: EventLog; readonly codec: Codec },
  stream: string,
  through: bigint,
): Promise<QuarantinedStream | undefined> => {
  const skipped = await skippedOf(log, codec, stream, through)
  await clear(target, stream)
  for await (const chunk of chunksOf(log, stream, through)) {
    for (const part of (await applyAppend(target, codec, chunk, skipped)) ? appendsOf(chunk) : []) {
      const culprit = await applyAppend(target, codec, part, skipped)
      if (!culprit) continue
      await target.client.query(insertQuarantined(culprit))
      return culprit
    }
  }
  return undefined
}

/**
 * Replays a stream in the schema in use, in one transaction, while its runner waits. Ends the runner's session, because it has the
 * list of quarantined streams in memory: it starts again with the stored list. `client` has the schema on its search path. If an
 * event cannot be applied, the stream goes into quarantine there, and the event is returned.
 */
export const replayServed = async (
  { client, group }: { readonly client: pg.Client; readonly group: Group },
  source: { readonly log: EventLog; readonly codec: Codec },
  stream: string,
): Promise<QuarantinedStream | undefined> => {
  const schema = schemaOf(group)
  try {
    await client.query('begin')
    // The command reports success, so a crash of PostgreSQL must not undo this.
    await client.query('set local synchronous_commit = on')
    await client.query('select pg_advisory_xact_lock(hashtext($1))', [locks.swap(schema)])
    const { position } = await readCheckpoint(client, schema)
    const culprit = await replayStream({ client, group, schema }, source, stream, position)
    await endLeaderSession(client, locks.runner(schema))
    await client.query('commit')
    return culprit
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}
