import type pg from 'pg'
import { type DecodedEvent, type Projection } from '../../src/engine/projection.ts'
import { applyBatch, connectForApplying } from '../../src/engine/apply.ts'
import { ensureSchema, finishSchema } from '../../src/engine/schema.ts'
import { newId } from '../../src/ids.ts'
import type { AnyEvent } from '../../src/events.ts'
import { freshDatabase } from '../support/database.ts'

export const NOON = Date.UTC(2026, 0, 1, 12)

/** What a test says of an event: which stream of its kind, what, and when. */
export type StreamEvent = { readonly stream: string; readonly event: AnyEvent; readonly at?: number }

/** Events as a projection gets them, one position after the other, a second apart unless said. */
export const decodedEvents = (events: readonly StreamEvent[]): DecodedEvent[] => {
  const revisions = new Map<string, bigint>()
  return events.map(({ stream, event, at }, i) => {
    const revision = (revisions.get(stream) ?? -1n) + 1n
    revisions.set(stream, revision)
    const streamId = stream.slice(stream.indexOf('-') + 1)
    const place = { streamId, stream, revision, position: BigInt(i + 1), bytes: JSON.stringify(event.data).length }
    return { ...event, ...place, at: at ?? NOON + i * 1_000, actor: undefined }
  })
}

/** A read model with tables of its own. */
export type Model = {
  /** Applies events as one batch. */
  apply(events: readonly DecodedEvent[]): Promise<void>
  rows<T extends Record<string, unknown>>(query: string, values?: readonly unknown[]): Promise<T[]>
  close(): Promise<void>
}

const newModel = async (url: string, schema: string, projections: readonly Projection[]): Promise<Model> => {
  const client: pg.Client = await connectForApplying(url, schema)
  const group = { name: 'test', version: 0, projections }
  const epoch = newId()
  await ensureSchema(client, group, schema)
  await finishSchema(client, group, schema)
  let at = 0n
  const apply = async (events: readonly DecodedEvent[]) => {
    const through = events.at(-1)?.position ?? at
    await applyBatch({ client, group, schema }, events, { from: at, through, epoch, anchor: undefined })
    at = through
  }
  let ending: Promise<void> | undefined
  const rows: Model['rows'] = async (query, values = []) => (await client.query(query, [...values])).rows
  return { apply, rows, close: () => (ending ??= client.end()) }
}

/** A database for the models of one test file; each model is made empty. */
export const openModels = async (...projections: readonly Projection[]) => {
  const database = await freshDatabase()
  const models: Model[] = []
  const model = async (): Promise<Model> => {
    const made = await newModel(database.url, `rm_test_${models.length}`, projections)
    models.push(made)
    return made
  }
  const close = async () => {
    for (const { close } of models) await close()
    await database.drop()
  }
  return { model, close }
}
