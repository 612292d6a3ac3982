import { int4s, int8s, uuids } from '../../eventstore/postgres/arrays.ts'
import type { ReadRows } from '../../eventstore/engine/in-snapshot.ts'
import { type FactsRow, factsColumns } from '../trace/messages/message-facts.ts'

/** The most rows that are read for a line. Of one that more calls wrote only those in the same file count. */
export const MOST_ROWS = 64
/** The most rows that are read for such a line in the files of one name: the newest ones. */
const MOST_IN_FILES = 16
/** A line that so many calls wrote is common: only those in files of the same name are read, because the index is read to the end for the others. */
const COMMON = 1_000

/** A row of `written_files`, with the numbers of the asked lines that it has. */
export type WrittenRow = {
  readonly asked: readonly number[]
  readonly trace_id: string
  readonly incarnation: bigint
  readonly ordinal: number
  readonly nth: number
  readonly file: number
  readonly at: bigint
  readonly identity: bigint
  readonly is_whole: boolean
  readonly path: string
}

const columns = `
  r.trace_id, r.incarnation, r.ordinal, r.nth, r.file, r.at, r.identity, r.whole is not null as is_whole, r.path`

/** SQL for each row once: calls that wrote many of the lines are sent and read once. */
const once = (rows: string) => `
  select array_agg(n::int4) as asked, trace_id, incarnation, ordinal, nth, file, at, identity, is_whole, path
  from (${rows}) r group by trace_id, incarnation, ordinal, nth, file, at, identity, is_whole, path`

const byLine = once(`
  select u.n, w.* from unnest($1::int8[]) with ordinality u (hash, n)
  cross join lateral (select ${columns} from written_files r where r.written @> array[u.hash] limit ${MOST_ROWS}) w`)

/** Reads the calls that wrote lines, of each line some if there are very many. */
export const readWriters = (read: ReadRows, hashes: readonly bigint[]): Promise<WrittenRow[]> =>
  read<WrittenRow>('attribution-by-line', byLine, [int8s(hashes)])

const common = `
  select u.n::int4 as asked from unnest($1::int8[]) with ordinality u (hash, n)
  cross join lateral (select from written_files r where r.written @> array[u.hash] offset ${COMMON - 1} limit 1) w`

/** Finds out which of the lines are common, by their places in the list. */
export const readCommon = async (read: ReadRows, hashes: readonly bigint[]): Promise<Set<number>> => {
  const rows = await read<{ asked: number }>('attribution-common', common, [int8s(hashes)])
  return new Set(rows.map(({ asked }) => asked - 1))
}

const byFile = once(`
  select u.n, w.* from unnest($1::int8[], $2::int8[], $3::int8[]) with ordinality u (hash, name, latest, n)
  cross join lateral (
    select ${columns} from written_files r where r.written @> array[u.hash, u.name] and r.at <= u.latest
    order by r.at desc limit ${MOST_IN_FILES}
  ) w`)

/** A line, the hash of the name of a file, and the time up to which calls count. */
export type LineInFile = { readonly hash: bigint; readonly name: bigint; readonly latest: number }

/** Reads the newest calls that wrote each line into a file of its name, up to its time. */
export const readWritersInFiles = (read: ReadRows, lines: readonly LineInFile[]): Promise<WrittenRow[]> =>
  read<WrittenRow>('attribution-by-file', byFile, [
    int8s(lines.map(({ hash }) => hash)),
    int8s(lines.map(({ name }) => name)),
    int8s(lines.map(({ latest }) => latest)),
  ])

const copies = `
  select ${columns} from unnest($1::int8[]) u (identity)
  cross join lateral (select * from written_files w where w.identity = u.identity and w.whole is not null limit ${MOST_ROWS}) r`

/** Reads the calls with these identities that write files whole: copies of one may have different lines, because results showed others before. */
export const readCopies = (read: ReadRows, identities: readonly bigint[]): Promise<Omit<WrittenRow, 'asked'>[]> =>
  read<Omit<WrittenRow, 'asked'>>('attribution-copies', copies, [int8s(identities)])

/** A trace as answers name it; its texts are JSON literals. */
export type TraceRow = {
  readonly id: string
  readonly incarnation: bigint
  readonly created_at: bigint
  readonly external_id: string
  readonly agent_id: string
  readonly title: string | null
  readonly model: string | null
  readonly parent_external_id: string | null
  readonly project_path: string | null
  readonly git_remote_url: string | null
  readonly created_by: string
  readonly display_name: string | null
}

const traces = `
  select t.id, t.incarnation, t.created_at, t.external_id, t.agent_id, t.title, t.model, t.parent_external_id, t.project_path, t.git_remote_url,
    t.created_by, w.display_name
  from unnest($1::uuid[]) u (id) cross join lateral (select * from traces r where r.id = u.id limit 1) t
  left join users w on w.id = t.created_by
  where t.namespace_id = $2`

/** Reads those of the traces that are in the namespace. */
export const readTraces = (read: ReadRows, ids: readonly string[], namespaceId: string): Promise<TraceRow[]> =>
  read<TraceRow>('attribution-traces', traces, [uuids(ids), namespaceId])

/** A call of a message. */
export type CallKey = { readonly traceId: string; readonly ordinal: number; readonly nth: number }

const keysOf = (calls: readonly CallKey[]) => [
  uuids(calls.map(({ traceId }) => traceId)),
  int4s(calls.map(({ ordinal }) => ordinal)),
  int4s(calls.map(({ nth }) => nth)),
]

const arrivals = `
  select u.n::int4 as asked, m.created_at
  from unnest($1::uuid[], $2::int4[], $3::int4[], $4::int8[]) with ordinality u (trace_id, ordinal, nth, incarnation, n)
  cross join lateral (
    select r.created_at from messages r
    where r.trace_id = u.trace_id and r.incarnation = u.incarnation and r.ordinal = u.ordinal limit 1
  ) m
  where not exists (select from failed_calls f where f.trace_id = u.trace_id and f.ordinal = u.ordinal and f.nth = u.nth)`

type ArrivalRow = { readonly asked: number; readonly created_at: bigint }

/**
 * When the messages of calls arrived, in the order of the calls; undefined for those that failed, or are gone.
 * @param calls with the incarnation of their trace
 */
export const readArrivals = async (
  read: ReadRows,
  calls: readonly (CallKey & { readonly incarnation: bigint })[],
): Promise<(number | undefined)[]> => {
  const incarnations = int8s(calls.map(({ incarnation }) => incarnation))
  const rows = await read<ArrivalRow>('attribution-arrivals', arrivals, [...keysOf(calls), incarnations])
  const times: (number | undefined)[] = calls.map(() => undefined)
  for (const { asked, created_at } of rows) times[asked - 1] = Number(created_at)
  return times
}

const replaced = `
  select u.n::int4 as asked, h.hash
  from unnest($1::uuid[], $2::int4[], $3::int4[], $4::int4[]) with ordinality u (trace_id, ordinal, nth, file, n)
  cross join lateral (
    select w.replaced from written_files w
    where w.trace_id = u.trace_id and w.ordinal = u.ordinal and w.nth = u.nth and w.file = u.file limit 1
  ) r
  cross join lateral unnest(r.replaced) h (hash)
  join unnest($5::int8[]) l (hash) on l.hash = h.hash`

/** Which of the lines each file replaced, by the place of the file in the list. */
export const readReplaced = (
  read: ReadRows,
  files: readonly (CallKey & { readonly file: number })[],
  lines: readonly bigint[],
): Promise<{ asked: number; hash: bigint }[]> =>
  read('attribution-replaced', replaced, [...keysOf(files), int4s(files.map(({ file }) => file)), int8s(lines)])

/** A message as answers name it. */
export type MessageRow = FactsRow & {
  readonly asked: number
  readonly external_id: string
  readonly model: string | null
}

const messages = `
  select u.n::int4 as asked, m.external_id, m.model, ${factsColumns}
  from unnest($1::uuid[], $2::int4[]) with ordinality u (trace_id, ordinal, n)
  cross join lateral (select * from traces r where r.id = u.trace_id limit 1) t
  cross join lateral (
    select * from messages r where r.trace_id = t.id and r.incarnation = t.incarnation and r.ordinal = u.ordinal limit 1
  ) m`

type MessageKey = Pick<CallKey, 'traceId' | 'ordinal'>

export const readMessages = (read: ReadRows, keys: readonly MessageKey[]): Promise<MessageRow[]> =>
  read<MessageRow>(
    'attribution-messages-of-calls',
    messages,
    keysOf(keys.map((key) => ({ ...key, nth: 0 }))).slice(0, 2),
  )
