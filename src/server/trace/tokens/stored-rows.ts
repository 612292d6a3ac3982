import { timeOrArrival } from '../../../base/time-ahead.ts'
import { int4s, uuids } from '../../../eventstore/postgres/arrays.ts'
import { factsColumns } from '../messages/message-facts.ts'
import { partsLength, partsText } from '../messages/stored-parts.ts'
import type { FilteredMessage, FilteredTrace } from './filter-tokens.ts'
import type { StoredMessage } from './message-texts.ts'
import type { SearchedTrace } from './searched-text.ts'

/** A trace with all columns that the search index is made from. */
export type TraceRow = FilteredTrace &
  SearchedTrace & { id: string; incarnation: bigint; created_at: bigint; started_at: number | null }

/** A message with all columns that the search index is made from. */
export type MessageRow = FilteredMessage &
  Omit<StoredMessage, 'role' | 'text'> & {
    ordinal: number
    external_id: string
    text_content: string | null
    timestamp: number | null
    created_at: bigint
  }

export const tracesStatement = `
  select t.id, t.incarnation, t.namespace_id, t.created_by, t.created_at, t.started_at, t.visibility, t.agent_id, t.model, t.project_name,
    t.git_branch, t.title, t.ai_title, t.ai_summary
  from unnest($1::uuid[]) u (id) cross join lateral (select * from traces r where r.id = u.id limit 1) t`

/** The most bytes of messages that are read at once, unless a single message has more; those of the text itself, however small it is stored. */
const MOST_BYTES = 4 * 1024 * 1024

// The messages of keys, and the number of each among them, from 1.
const messagesOfKeys = `
  unnest($1::uuid[], $2::int4[]) with ordinality u (id, ordinal, nth)
  cross join lateral (select r.id, r.incarnation from traces r where r.id = u.id limit 1) t
  cross join lateral (
    select * from messages r where r.trace_id = t.id and r.incarnation = t.incarnation and r.ordinal = u.ordinal limit 1
  ) m`

/** SQL for the bytes of a message's texts, which PostgreSQL knows without reading them. */
const size = `coalesce(octet_length(m.text_content), 0) + ${partsLength}`

/** Reads the sizes of messages, with the place of each among the keys, from 1. */
export const sizesStatement = `select u.nth::int4, (${size})::int8 as size from ${messagesOfKeys}`

// The sizes are summed before any long text is read: until then a row has only a reference to it.
const messagesStatement = `
  select m.nth::int4, m.count::int4, m.ordinal, m.external_id, m.role, m.text_content, m.model, m.tools, m.timestamp, m.created_at, ${factsColumns},
    ${partsText} as parts
  from (
    select m.*, sum(m.size) over (order by m.nth) - m.size as before, count(*) over () as count
    from (select u.nth, m.*, ${size} as size from ${messagesOfKeys}) m
  ) m
  where m.before < ${MOST_BYTES}
  order by m.nth`

/** The values of `tracesStatement`. */
export const tracesValues = (ids: readonly string[]): unknown[] => [uuids(ids)]

/** A message or a trace itself, as a row of the index names it. */
type RowKey = { readonly traceId: string; readonly ordinal: number }

/** The values of a statement that reads rows of messages. */
export const keysOf = (all: readonly RowKey[]): unknown[] => [
  uuids(all.map(({ traceId }) => traceId)),
  int4s(all.map(({ ordinal }) => ordinal)),
]

export type ValuesRow = FilteredMessage & { nth: number }

/** Reads the columns of messages by which searches filter, with the place of each among the keys, from 1. */
export const valuesStatement = `
  select u.nth::int4, m.role, m.model, m.tools, ${factsColumns} from ${messagesOfKeys}`

type Read = <Row extends Record<string, unknown>>(
  name: string,
  text: string,
  values: readonly unknown[],
) => Promise<Row[]>

type FoundRow = MessageRow & { readonly nth: number; readonly count: number }

/** The most messages that are read at once. */
const CHUNK = 100

type Piece<One> = { readonly piece: readonly One[]; readonly rowOf: (one: One) => MessageRow | undefined }

/**
 * Reads messages piece by piece, so that large ones take little memory. Yields each piece of `all`, in order, with a function that returns the
 * stored row of a message; undefined if it has been removed, or was not needed. The next piece is read while the caller uses this one.
 */
export async function* inPieces<One extends RowKey>(
  rows: Read,
  all: readonly One[],
  isNeeded: (one: One) => boolean = () => true,
): AsyncGenerator<Piece<One>> {
  const readPiece = async (from: number): Promise<Piece<One>> => {
    const chunk = all.slice(from, from + CHUNK)
    const wanted = chunk.filter((one) => one.ordinal >= 0 && isNeeded(one))
    if (wanted.length === 0) return { piece: chunk, rowOf: () => undefined }
    const found = await rows<FoundRow>('search-messages', messagesStatement, keysOf(wanted))
    const rowByKey = new Map(found.map((row) => [wanted[row.nth - 1]!, row]))
    const last = found.at(-1)
    const isCut = last !== undefined && found.length < last.count
    return {
      piece: isCut ? chunk.slice(0, chunk.indexOf(wanted[last.nth - 1]!) + 1) : chunk,
      rowOf: (one) => rowByKey.get(one),
    }
  }

  let next: Promise<Piece<One>> | undefined
  try {
    for (let from = 0; from < all.length;) {
      const found = await (next ?? readPiece(from))
      from += found.piece.length
      next = from < all.length ? readPiece(from) : undefined
      next?.catch(() => {}) // the caller may stop before it asks for this piece
      yield found
    }
  } finally {
    await next?.catch(() => {})
  }
}

export const storedMessage = ({ role, text_content: text, parts }: MessageRow): StoredMessage => ({
  role: role as StoredMessage['role'],
  text,
  parts,
})

const MOST_MS = 8.64e15

/** The time of a message in the index, in milliseconds: its own, else that of its arrival, also where its own is too far ahead. */
export const timeOf = (timestamp: number | null, createdAt: bigint): number =>
  Math.trunc(Math.max(-MOST_MS, timeOrArrival(timestamp, Number(createdAt))))
