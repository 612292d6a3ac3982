import type { ReadRows } from '../../src/eventstore/engine/projection.ts'
import { float8s, int4s, int8s, texts, uuids } from '../../src/eventstore/postgres/arrays.ts'
import type { Part } from '../../src/contract/message.ts'
import { bySortKeys } from '../../src/server/trace/kept-shape.ts'
import type { Fact } from '../../src/server/trace/messages/facts.ts'
import { type FactsRow, factsColumns, factsOfRow } from '../../src/server/trace/messages/message-facts.ts'
import { inPieces, keysOf, timeOf } from '../../src/server/trace/tokens/stored-rows.ts'

/** A message, by its trace and its place in the order of arrival. */
export type Key = { readonly traceId: string; readonly ordinal: number }

/** How a message is read. */
export type Reading = {
  /** Whether there are no rows of it. */
  readonly isNew: boolean
  /** The ids of its results (as facts have them), if nothing else of it matters. */
  readonly results?: readonly string[]
}

export type ToRead = Key & Reading

/** The place of a message in the list. */
export type Place = { readonly sequence: number; readonly timestamp: number; readonly ordinal: number }

/** What is known of a message of a present trace without its texts. */
export type Message = Key & {
  readonly incarnation: bigint
  readonly place: Place
  /** When its calls were made. */
  readonly at: number
  readonly tools: readonly string[]
  readonly facts: readonly Fact[]
}

export const nameOf = ({ traceId, ordinal }: Key): string => `${traceId}/${ordinal}`

export const isBefore = (a: Place, b: Place): boolean => bySortKeys(a, b) < 0

const place = (m: string) =>
  `coalesce(${m}.sequence, 'infinity') as sequence, coalesce(${m}.timestamp, 'infinity') as timestamp, ${m}.ordinal`

type MessageRow = FactsRow & Place & { nth: number; incarnation: bigint; created_at: bigint; tools: string }

// Before another trace with the same id has messages, it may be there without them.
const presentTrace = 'cross join lateral (select * from traces r where r.id = u.trace_id limit 1) t'

const messagesStatement = `
  select u.nth::int4, t.incarnation, m.created_at, m.tools, ${place('m')}, ${factsColumns}
  from unnest($1::uuid[], $2::int4[]) with ordinality u (trace_id, ordinal, nth)
  ${presentTrace}
  cross join lateral (
    select * from messages r where r.trace_id = t.id and r.incarnation = t.incarnation and r.ordinal = u.ordinal limit 1
  ) m`

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

/** Reads messages, without those that are gone. */
export const readMessages = async (read: ReadRows, keys: readonly Key[]): Promise<Message[]> => {
  const rows = await read<MessageRow>('attribution-messages', messagesStatement, keysOf(keys))
  return rows.map((row) => ({
    ...keys[row.nth - 1]!,
    incarnation: row.incarnation,
    place: row,
    at: timeOf(finite(row.timestamp), row.created_at),
    tools: JSON.parse(row.tools) as string[],
    facts: factsOfRow(row).facts,
  }))
}

/** Reads the parts of messages, piece by piece, so that large ones take little memory. */
export async function* readParts<One extends Key>(
  read: ReadRows,
  keys: readonly One[],
): AsyncGenerator<readonly [One, readonly Part[]]> {
  for await (const { piece, rowOf } of inPieces(read, keys))
    for (const one of piece) {
      const row = rowOf(one)
      if (row) yield [one, JSON.parse(`[${row.parts ?? ''}]`) as Part[]]
    }
}

/** A call that shows a file, and is before a place in the list. */
type ShowingRow = FactsRow & { nth: number; ordinal: number; call: number }

/** How many calls that show a file are looked at, the latest ones. */
const MOST_SHOWING = 64

const showingStatement = `
  select u.nth::int4, s.*
  from unnest($1::uuid[], $2::int8[], $3::float8[], $4::float8[], $5::int4[])
    with ordinality u (trace_id, path, sequence, timestamp, ordinal, nth)
  ${presentTrace}
  cross join lateral (
    select f.ordinal, f.nth as call, ${factsColumns}
    from shown_files f join messages m on m.trace_id = t.id and m.incarnation = t.incarnation and m.ordinal = f.ordinal
    where f.trace_id = t.id and f.path = u.path
      and (coalesce(m.sequence, 'infinity'), coalesce(m.timestamp, 'infinity'), m.ordinal) < (u.sequence, u.timestamp, u.ordinal)
      and not exists (select from failed_calls c where c.trace_id = t.id and c.ordinal = f.ordinal and c.nth = f.nth)
    order by coalesce(m.sequence, 'infinity') desc, coalesce(m.timestamp, 'infinity') desc, m.ordinal desc limit ${MOST_SHOWING}
  ) s`

/** Within how many messages after a call its result is looked for. */
const MOST_BETWEEN = 256
/** How many messages with such a result are looked at: one that has changed may not have it any more. */
const MOST_RESULTS = 4

const resultsStatement = `
  select u.nth::int4, ${place('m')}
  from unnest($1::uuid[], $2::int4[], $3::text[]) with ordinality u (trace_id, ordinal, id, nth)
  ${presentTrace}
  cross join lateral (
    select r.ordinal, r.sequence, r.timestamp from messages r
    where r.trace_id = t.id and r.incarnation = t.incarnation and r.ordinal >= u.ordinal and r.ordinal <= u.ordinal + ${MOST_BETWEEN}
      and (position('r' || u.id || ' ' in r.facts || ' ') > 0 or r.revision <> r.added and exists (
        select from message_parts c where c.trace_id = t.id and c.incarnation = t.incarnation and c.ordinal = r.ordinal
          and c.position < r.part_count and c.fact = 'r' || u.id
      ))
    order by r.ordinal limit ${MOST_RESULTS}
  ) m`

/** A place in a trace before which something was shown, and the hash of the file's path. */
export type Viewer = { readonly traceId: string; readonly path: bigint; readonly place: Place }

/** A message that may have the result of a call with this id (as a fact has it), which shows the file of a viewer before it. */
export type Showing<Of> = Key & { readonly id: string; readonly viewer: Of }

const callIn = (facts: readonly Fact[], nth: number): string | undefined =>
  facts.filter((fact) => fact.is === 'call')[nth]?.id

/** The messages that may have shown files to each viewer. */
export const readShowing = async <Of extends Viewer>(
  read: ReadRows,
  viewers: readonly Of[],
): Promise<Showing<Of>[]> => {
  if (viewers.length === 0) return []
  const calls = await read<ShowingRow>('attribution-showing', showingStatement, [
    uuids(viewers.map(({ traceId }) => traceId)),
    int8s(viewers.map(({ path }) => path)),
    float8s(viewers.map(({ place }) => place.sequence)),
    float8s(viewers.map(({ place }) => place.timestamp)),
    int4s(viewers.map(({ place }) => place.ordinal)),
  ])
  const asked = calls.flatMap((row) => {
    const id = callIn(factsOfRow(row).facts, row.call)
    return id === undefined ? [] : [{ viewer: viewers[row.nth - 1]!, ordinal: row.ordinal, id }]
  })
  if (asked.length === 0) return []
  const results = await read<Place & { nth: number }>('attribution-results', resultsStatement, [
    uuids(asked.map(({ viewer }) => viewer.traceId)),
    int4s(asked.map(({ ordinal }) => ordinal)),
    texts(asked.map(({ id }) => id)),
  ])
  return results.flatMap((row) => {
    const { viewer, id } = asked[row.nth - 1]!
    return isBefore(row, viewer.place) ? [{ traceId: viewer.traceId, ordinal: row.ordinal, id, viewer }] : []
  })
}
