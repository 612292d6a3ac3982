import type pg from 'pg'
import { type DecodedEvent, type Projection } from '../../src/eventstore/engine/projection.ts'
import { applyBatch } from '../../src/eventstore/engine/apply.ts'
import type { Group } from '../../src/eventstore/engine/group.ts'
import { ensureSchema, finishSchema } from '../../src/eventstore/engine/schema.ts'
import { newId } from '../../src/base/ids.ts'
import type { AnyEvent } from '../../src/server/events.ts'
import { newApplyingClient } from '../../src/eventstore/postgres/connect.ts'
import { freshDatabase } from '../support/database.ts'

export const NOON = Date.UTC(2026, 0, 1, 12)

/** What a test says of an event: which stream of its kind, what, and when. */
export type StreamEvent = {
  readonly stream: string
  readonly event: AnyEvent
  readonly at?: number
  readonly actor?: string
  /** The append that it is stored with, and the request; its own when none is said. */
  readonly append?: string
  readonly request?: string
}

/** Events as a projection gets them, one position after the other, a second apart unless said. */
export const decodedEvents = (events: readonly StreamEvent[]): DecodedEvent[] => {
  const revisions = new Map<string, bigint>()
  return events.map(({ stream, event, at, actor, append, request }, i) => {
    const revision = (revisions.get(stream) ?? -1n) + 1n
    revisions.set(stream, revision)
    const streamId = stream.slice(stream.indexOf('-') + 1)
    const place = {
      streamId,
      stream,
      firstRevision: revision,
      revision,
      position: BigInt(i + 1),
      bytes: JSON.stringify(event.data).length,
    }
    const caused = { actor: actor === undefined ? undefined : { userId: actor }, requestId: request }
    return { ...event, ...place, at: at ?? NOON + i * 1_000, ...caused, appendId: append ?? String(i) }
  })
}

/** A read model with tables of its own. */
export type Model = {
  /** Applies events as one batch. */
  apply(events: readonly DecodedEvent[]): Promise<void>
  rows<T extends Record<string, unknown>>(query: string, values?: readonly unknown[]): Promise<T[]>
  close(): Promise<void>
}

/** A schema with a model's tables, and the connection that fills them. */
type Tables = { readonly client: pg.Client; readonly schema: string; readonly group: Group }

const newTables = async (url: string, schema: string, projections: readonly Projection[]): Promise<Tables> => {
  const client = newApplyingClient(url, schema)
  await client.connect()
  const group = { name: 'test', version: 0, projections }
  await ensureSchema(client, group, schema)
  await finishSchema(client, group, schema)
  return { client, schema, group }
}

/** Makes tables as good as new; other ones would take the server far longer. */
const empty = ({ client, schema }: Tables) =>
  client.query(`
    do $$ declare name text; begin
      for name in select tablename from pg_tables where schemaname = '${schema}' and tablename <> 'checkpoint' loop
        execute format('delete from %I', name);
      end loop;
    end $$;
    delete from checkpoint where seen >= 0`)

const newModel = (tables: Tables, giveBack: () => void): Model => {
  const { client } = tables
  const epoch = newId()
  let at = 0n
  const apply = async (events: readonly DecodedEvent[]) => {
    const through = events.at(-1)?.position ?? at
    await applyBatch(tables, events, { from: at, through, epoch, anchor: undefined })
    at = through
  }
  const rows: Model['rows'] = async (query, values = []) => (await client.query(query, [...values])).rows
  const close = async () => {
    await empty(tables)
    giveBack()
  }
  return { apply, rows, close }
}

/** A database for the models of one test file; each model is empty at first. One that is closed must not be used again. */
export const openModels = async (...projections: readonly Projection[]) => {
  const database = await freshDatabase()
  const all: Tables[] = []
  const spare: Tables[] = []
  const model = async (): Promise<Model> => {
    const tables = spare.pop() ?? (await newTables(database.url, `rm_test_${all.length}`, projections))
    if (!all.includes(tables)) all.push(tables)
    return newModel(tables, () => spare.push(tables))
  }
  const close = async () => {
    for (const { client } of all) await client.end()
    await database.drop()
  }
  return { model, close }
}
