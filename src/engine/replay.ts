import type { EventLog, RecordedEvent } from '../log/log.ts'
import { type Target, appendsOf, applyAppend } from './apply.ts'
import { skippedOf } from './skipped.ts'
import type { Codec } from './codec.ts'
import type { WriteStatement } from './projection.ts'
import { type QuarantinedStream, insertQuarantined } from './quarantine.ts'
import { streamIdOf } from './stream.ts'

const CHUNK_EVENTS = 1_000

/** Takes away all rows that come from a stream. */
const clear = async ({ client, group }: Target, stream: string) => {
  const category = stream.slice(0, stream.indexOf('-'))
  const write: WriteStatement = (name, text, values) =>
    void sent.push(client.query({ name, text, values: [...values] }))
  const sent: Promise<unknown>[] = []
  for (const { beforeRemoval } of group.projections) beforeRemoval?.[category]?.(streamIdOf({ stream }), write)
  for (const { rows } of group.projections)
    for (const [table, owners] of Object.entries(rows)) {
      const column = owners[category]
      if (column) write('', `delete from ${table} where ${column} = $1`, [streamIdOf({ stream })])
    }
  await Promise.all(sent)
  await client.query('delete from quarantine where stream = $1', [stream])
}

/** The stream's appends up to a position, a chunk at a time. */
async function* chunksOf(log: EventLog, stream: string, through: bigint) {
  let chunk: RecordedEvent[] = []
  for await (const event of log.read(stream)) {
    if (event.position > through) break
    // Whole appends only: an append never goes on in the next chunk.
    if (chunk.length >= CHUNK_EVENTS && appendsOf([chunk.at(-1)!, event]).length > 1) {
      yield chunk
      chunk = []
    }
    chunk.push(event)
  }
  if (chunk.length > 0) yield chunk
}

/**
 * Makes the rows of one stream anew from its events up to a position, within an open transaction, passing over the events
 * that were skipped. Gives the event that still cannot be applied: then the stream is in quarantine from there on.
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
