import { int4s, uuids } from '../../postgres/arrays.ts'
import { factsColumns } from '../messages/message-facts.ts'
import { columnsOfParts, partsLength, partsText } from '../messages/stored-parts.ts'
import type { FilteredMessage, FilteredTrace } from './filter-tokens.ts'
import type { StoredMessage } from './message-texts.ts'
import type { SearchedTrace } from './trace-texts.ts'

/** A trace with all that it is found by. */
export type TraceRow = FilteredTrace & SearchedTrace & { id: string; incarnation: bigint; created_at: bigint }

/** The same of a message. */
export type MessageRow = FilteredMessage &
  Omit<StoredMessage, 'role' | 'text'> & {
    trace_id: string
    ordinal: number
    external_id: string
    text_content: string | null
    timestamp: number | null
    created_at: bigint
  }

export const tracesStatement = `
  select t.id, t.incarnation, t.namespace_id, t.created_by, t.created_at, t.visibility, t.agent_id, t.model, t.project_name,
    t.git_branch, t.title, t.ai_title, t.ai_summary
  from unnest($1::uuid[]) u (id) cross join lateral (select * from traces r where r.id = u.id limit 1) t`

const fromMessages = `
  from unnest($1::uuid[], $2::int4[]) u (id, ordinal)
  cross join lateral (select r.id, r.incarnation from traces r where r.id = u.id limit 1) t
  cross join lateral (
    select * from messages r where r.trace_id = t.id and r.incarnation = t.incarnation and r.ordinal = u.ordinal limit 1
  ) m`

const messagesStatement = `
  select m.ordinal, m.external_id, m.role, m.text_content, m.model, m.tools, m.timestamp, m.created_at, ${factsColumns},
    ${columnsOfParts}, ${partsText} as parts ${fromMessages}`

const sizesStatement = `
  select m.trace_id, m.ordinal, (coalesce(pg_column_size(m.text_content), 0) + ${partsLength})::float8 as size ${fromMessages}`

/** The values of `tracesStatement`. */
export const tracesValues = (ids: readonly string[]): unknown[] => [uuids(ids)]

/** A message by its place in the index. */
type Place = { readonly traceId: string; readonly ordinal: number }

const keyOf = (traceId: string, ordinal: number) => `${traceId}/${ordinal}`

type Read = <Row extends Record<string, unknown>>(
  name: string,
  text: string,
  values: readonly unknown[],
) => Promise<Row[]>

const read = <Row extends Record<string, unknown>>(rows: Read, name: string, text: string, all: readonly Place[]) =>
  all.length === 0
    ? []
    : rows<Row>(name, text, [uuids(all.map(({ traceId }) => traceId)), int4s(all.map(({ ordinal }) => ordinal))])

/** So many bytes of messages are in memory at once, unless one alone has more. */
const MOST_BYTES = 4 * 1024 * 1024

/**
 * Reads messages piece by piece, so that large ones take little memory. Yields each piece of `all`, in their order, with what gives the
 * row of one of them; undefined for those that are gone.
 */
export async function* inPieces<One extends Place>(
  rows: Read,
  all: readonly One[],
): AsyncGenerator<{ readonly piece: readonly One[]; readonly rowOf: (one: One) => MessageRow | undefined }> {
  const ofMessages = all.filter(({ ordinal }) => ordinal >= 0)
  type Size = { trace_id: string; ordinal: number; size: number }
  const found = await read<Size>(rows, 'search-sizes', sizesStatement, ofMessages)
  const sizes = new Map(found.map(({ trace_id, ordinal, size }) => [keyOf(trace_id, ordinal), size]))
  let [from, bytes] = [0, 0]
  for (let to = 1; to <= all.length; to++) {
    const last = all[to - 1]!
    bytes += sizes.get(keyOf(last.traceId, last.ordinal)) ?? 0
    if (bytes < MOST_BYTES && to < all.length) continue
    const piece = all.slice(from, to)
    const wanted = piece.filter(({ traceId, ordinal }) => sizes.has(keyOf(traceId, ordinal)))
    const stored = await read<MessageRow>(rows, 'search-messages', messagesStatement, wanted)
    const byKey = new Map(stored.map((row) => [keyOf(row.trace_id, row.ordinal), row]))
    yield { piece, rowOf: ({ traceId, ordinal }) => byKey.get(keyOf(traceId, ordinal)) }
    ;[from, bytes] = [to, 0]
  }
}

export const storedMessage = ({ role, text_content: text, parts }: MessageRow): StoredMessage => ({
  role: role as StoredMessage['role'],
  text,
  parts,
})

const MOST_MS = 8.64e15

/** When a message was written, in milliseconds, as the index has it. */
export const timeOf = (timestamp: number | null, createdAt: bigint): number =>
  timestamp === null ? Number(createdAt) : Math.trunc(Math.max(-MOST_MS, Math.min(timestamp, MOST_MS)))
