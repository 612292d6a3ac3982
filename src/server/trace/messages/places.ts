import type { ReadTables } from '../../../tables/main.ts'
import { messageId } from '../../../base/ids.ts'
import type { Reads, Row } from '../../../eventstore/engine/reads.ts'
import { notFound } from '../../http/http-error.ts'
import { BrokenOff } from '../../http/long-list.ts'
import { int4s } from '../../../eventstore/postgres/arrays.ts'
import { BEFORE_ALL, type Keys, listOrdered } from './queries.ts'

type TraceReads = Pick<Reads<ReadTables>, 'rows'>
type TraceIncarnation = { readonly id: string; readonly incarnation: bigint }

const ordered = (alias: string) => listOrdered.replaceAll('m.', `${alias}.`)

const placeStatement = `
  select (
    select count(*)::int4 from messages b
    where b.trace_id = m.trace_id and b.incarnation = m.incarnation and (${ordered('b')}) < (${listOrdered})
  ) as place
  from messages m where m.trace_id = $1 and m.incarnation = $2 and m.id = $3`

/** The place of a message in the list of messages, from 0; undefined if the trace has no such message. */
export const placeOf = async (reads: TraceReads, { id, incarnation }: TraceIncarnation, externalId: string) => {
  const values = [id, incarnation, messageId(id, externalId)]
  const [row] = await reads.rows<{ place: number } & Row>('message-place', placeStatement, values)
  return row?.place
}

const keysStatement = `
  select m.sequence, m.timestamp, m.ordinal from messages m where m.trace_id = $1 and m.incarnation = $2
  order by ${listOrdered} offset $3 limit 1`

type KeysRow = { sequence: number | null; timestamp: number | null; ordinal: number }

/** The keys after which a page begins that has at most `most` messages before this one. @throws 404 if the trace has no such message */
export const keysBefore = async (
  reads: TraceReads,
  { id, incarnation }: TraceIncarnation,
  externalId: string,
  most: number,
): Promise<Keys> => {
  const place = await placeOf(reads, { id, incarnation }, externalId)
  if (place === undefined) throw notFound()
  if (place <= most) return BEFORE_ALL
  const [row] = await reads.rows<KeysRow & Row>('message-keys', keysStatement, [id, incarnation, place - most - 1])
  if (!row) throw notFound()
  return [row.sequence ?? Infinity, row.timestamp ?? Infinity, row.ordinal]
}

const windowStatement = `
  select t.revision, (
    select count(*) filter (where p.class = 'user_message')::int4 from (
      select m.class from messages m where m.trace_id = t.id and m.incarnation = t.incarnation order by ${listOrdered} limit $3
    ) p
  ) as prompts, (
    select string_agg(w.ordinal::text, ',') from (
      select m.ordinal from messages m where m.trace_id = t.id and m.incarnation = t.incarnation
      order by ${listOrdered} offset $3 limit $4
    ) w
  ) as ordinals
  from traces t where t.id = $1 and t.incarnation = $2`

/** Successive messages of the list: their ordinals, in list order, and how many prompts come before them. */
type Window = { readonly revision: bigint; readonly prompts: number; readonly ordinals: Int32Array }

type WindowRow = { revision: bigint; prompts: number; ordinals: string | null }

/** At most `count` messages from a place on. @throws BrokenOff if the trace does not exist any more, or has another incarnation */
export const windowOf = async (
  reads: TraceReads,
  { id, incarnation }: TraceIncarnation,
  { from, count }: { readonly from: number; readonly count: number },
): Promise<Window> => {
  const [row] = await reads.rows<WindowRow & Row>('messages-window', windowStatement, [id, incarnation, from, count])
  if (!row) throw new BrokenOff('the trace was deleted meanwhile')
  return { ...row, ordinals: Int32Array.from(row.ordinals?.split(',') ?? [], Number) }
}

const promptsStatement = `
  select p.ordinal, p.place, (count(*) over ())::int4 as count from (
    select m.ordinal, m.class, (row_number() over (order by ${listOrdered}) - 1)::int4 as place
    from messages m where m.trace_id = $1 and m.incarnation = $2 and m.added <= $3
  ) p where p.class = 'user_message' order by p.place limit $4`

/** A prompt: its ordinal, and its place in the list of messages, from 0. */
type PromptPlace = { readonly ordinal: number; readonly place: number }

/** The first prompts that a trace had at a revision, in list order, and how many it had. */
export const promptsOf = async (
  reads: TraceReads,
  { id, incarnation }: TraceIncarnation,
  { revision, most }: { readonly revision: bigint; readonly most: number },
): Promise<{ readonly prompts: readonly PromptPlace[]; readonly count: number }> => {
  const values = [id, incarnation, revision, most]
  const rows = await reads.rows<PromptPlace & { count: number } & Row>('messages-prompts', promptsStatement, values)
  return { prompts: rows, count: rows[0]?.count ?? 0 }
}

const placesStatement = `
  select k.ordinal, (
    select count(*)::int4 from messages b
    where b.trace_id = m.trace_id and b.incarnation = m.incarnation and (${ordered('b')}) < (${listOrdered})
  ) as place
  from unnest($3::int4[]) k (ordinal) cross join lateral (
    select * from messages m where m.trace_id = $1 and m.incarnation = $2 and m.ordinal = k.ordinal limit 1
  ) m`

/** The places of messages in the list, by their ordinals. */
export const placesOf = async (
  reads: TraceReads,
  { id, incarnation }: TraceIncarnation,
  ordinals: readonly number[],
): Promise<ReadonlyMap<number, number>> => {
  const values = [id, incarnation, int4s([...ordinals])]
  const rows = await reads.rows<PromptPlace & Row>('message-places', placesStatement, values)
  return new Map(rows.map(({ ordinal, place }) => [ordinal, place]))
}
