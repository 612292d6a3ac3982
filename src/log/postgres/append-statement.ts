import type pg from 'pg'
import { int4s, int8s, jsons, texts, uuids } from '../../postgres/arrays.ts'
import { type Appended, type RecordedEvent, WrongRevision, expectedOf } from '../log.ts'
import type { Waiting } from './append-queue.ts'

type Row = { stored: boolean; fresh: boolean; revision: bigint; at: bigint | null }

/** What a statement did: an answer for each append, and the events that are new in the log, contiguous, in order. */
export type Written = { readonly answers: (Appended | WrongRevision)[]; readonly fresh: RecordedEvent[] }

const statement = 'select stored, fresh, revision, at from log.append($1, $2, $3, $4, $5, $6, $7, $8, $9)'

const parameters = (batch: readonly Waiting[]) => {
  const events = batch.flatMap((append) => append.events)
  return [
    texts(batch.map((append) => append.stream)),
    int8s(batch.map((append) => append.expected)),
    int4s(batch.map((append) => append.events.length)),
    int4s(batch.flatMap((append, i) => append.events.map(() => i + 1))),
    uuids(events.map((event) => event.id)),
    texts(events.map((event) => event.type)),
    jsons(events.map((event) => event.data)),
    jsons(events.map((event) => event.metadata)),
    int4s(events.map((event) => event.data.length + event.metadata.length)),
  ]
}

const recorded = ({ stream, events }: Waiting, { revision, at }: Row): RecordedEvent[] =>
  events.map((event, i) => {
    const back = BigInt(events.length - 1 - i)
    return { ...event, stream, revision: revision - back, position: at! - back }
  })

const answer = ({ stream }: Waiting, { stored, revision, at }: Row) =>
  stored ? { revision, position: at! } : new WrongRevision(stream, expectedOf(revision))

/**
 * Makes a batch ready to be sent; throws when one of its appends cannot be written down. A retry that is answered from
 * the log counts as stored, not as fresh: what was stored then may differ from what came now.
 */
export const prepare = (batch: readonly Waiting[]) => {
  const values = parameters(batch)
  return async (client: pg.Client): Promise<Written> => {
    const { rows } = await client.query<Row>({ name: 'append', text: statement, values })
    return {
      answers: batch.map((append, i) => answer(append, rows[i]!)),
      fresh: batch.flatMap((append, i) => (rows[i]!.fresh ? recorded(append, rows[i]!) : [])),
    }
  }
}
