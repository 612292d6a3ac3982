import { projectionOf, type ReadRows, type Sender, type WriteStatement } from '../../src/engine/projection.ts'
import { int4s, int8s, joinedInt4s, uuids } from '../../src/postgres/arrays.ts'
import type { TraceEvent } from '../../src/trace/events.ts'
import {
  type Changes,
  historyErased,
  messageAdded,
  messageUpdated,
  traceCreated,
  traceDeleted,
  traceSummarised,
  traceUpdated,
} from './changes.ts'
import { type Doc, type DocToWrite, type Hashing, newDocReader, readHashing, type TraceTokens } from './read-docs.ts'
import {
  createSearchDocs,
  createSegment,
  indexSegment,
  SEGMENT_ROWS,
  segmentName,
  segmentsStatement,
  startsOf,
} from '../../src/tables/search.ts'

/** The segments, and the approximate number of rows in the newest. */
type Segments = {
  /** Their first positions, the newest first. */
  readonly starts: readonly bigint[]
  rows: number
}

/** The segments that each database session knows. */
const known = new WeakMap<object, Segments>()

const remember = (session: object, starts: readonly bigint[], rows: number): Segments => {
  const segments = { starts, rows }
  known.set(session, segments)
  return segments
}

const segmentsOf = async ({ read, session }: Sender): Promise<Segments> => {
  const found = await read<{ name: string }>('search-segments', segmentsStatement, [])
  const starts = startsOf(found.map(({ name }) => name))
  const before = known.get(session)
  // A transaction that has begun a segment may have been rolled back, and another session may have begun one.
  if (before && before.starts[0] === starts[0]) return before
  return remember(session, starts, await countOf(read, starts[0]!))
}

const countOf = async (read: ReadRows, start: bigint): Promise<number> => {
  const [row] = await read<{ count: bigint }>('', `select count(*) from ${segmentName(start)}`, [])
  return Number(row!.count)
}

/** Begins a new segment at a position, and indexes the one before. Does nothing if that already has later rows, as in the replay of a stream. */
const beginSegment = async ({ read, session }: Sender, segments: Segments, at: bigint): Promise<Segments> => {
  const [newest] = segments.starts as [bigint]
  const [row] = await read<{ last: bigint | null }>('', `select max(seq) as last from ${segmentName(newest)}`, [])
  if (at <= newest || (row!.last ?? 0n) >= at) return segments
  for (const statement of [indexSegment(newest), ...createSegment(at).trim().split(';').slice(0, -1)])
    await read('', statement, [])
  return remember(session, [at, ...segments.starts], 0)
}

/**
 * Begins a new segment if the newest is full. To be called before rows are inserted. @returns the segments to insert into
 * @param first the first position of the new rows @param most the number of rows at which a segment is full
 */
const makeRoom = async (sender: Sender, first: bigint, count: number, most: number): Promise<Segments> => {
  let segments = await segmentsOf(sender)
  if (segments.rows >= most) segments = await beginSegment(sender, segments, first)
  segments.rows += count
  return segments
}

/** The segment of a position. */
const segmentAt = ({ starts }: Segments, position: bigint): bigint => starts.find((start) => start <= position)!

/** The key of the index, by database session: it is read once for each. */
const hashings = new WeakMap<object, Hashing>()

const hashingOf = async ({ read, session }: Sender): Promise<Hashing> => {
  const known = hashings.get(session) ?? (await readHashing(read))
  hashings.set(session, known)
  return known
}

const remove = `
  delete from search_docs d using unnest($1::uuid[], $2::int8[]) u (id, before)
  where d.trace_id = u.id and d.seq < u.before`

const writeRemoved = (changes: Changes, write: WriteStatement) => {
  const removed = [...changes].filter(([, { removedBefore }]) => removedBefore !== undefined)
  if (removed.length === 0) return
  write('search-remove', remove, [
    uuids(removed.map(([id]) => id)),
    int8s(removed.map(([, { removedBefore }]) => removedBefore)),
  ])
}

/** Arrays of different lengths as one array, with the index where each begins and ends: PostgreSQL has no arrays of arrays of different lengths. */
const joined = (arrays: readonly Int32Array[]) => {
  let end = 0
  const ends = arrays.map(({ length }) => (end += length))
  return { all: joinedInt4s(arrays), starts: int4s(ends.map((_, i) => (ends[i - 1] ?? 0) + 1)), ends: int4s(ends) }
}

const given = `
  unnest($1::uuid[], $2::int4[], $3::int8[], $4::int8[], $5::int8[], $7::int4[], $8::int4[], $10::int4[], $11::int4[], $12::int4[])
    u (trace_id, ordinal, incarnation, seq, at, tokens_from, tokens_to, of_trace_from, of_trace_to, place)`
const tokens = '($6::int4[])[u.tokens_from:u.tokens_to]'
const ofTrace = '($9::int4[])[u.of_trace_from:u.of_trace_to]'

const insertInto = (segment: bigint) => `
  insert into ${segmentName(segment)} (trace_id, ordinal, place, incarnation, seq, at, tokens, of_trace)
  select u.trace_id, u.ordinal, u.place, u.incarnation, u.seq, u.at, ${tokens}, ${ofTrace} from ${given}`

const update = `
  update search_docs d set incarnation = u.incarnation, at = u.at, place = u.place, tokens = ${tokens}, of_trace = ${ofTrace} from ${given}
  where d.trace_id = u.trace_id and d.ordinal = u.ordinal`

const values = (docs: readonly Doc[], traces: ReadonlyMap<string, TraceTokens>): unknown[] => {
  const own = joined(docs.map((doc) => doc.tokens))
  const inherited = joined(docs.map(({ traceId }) => traces.get(traceId)!.tokens))
  return [
    uuids(docs.map(({ traceId }) => traceId)),
    int4s(docs.map(({ ordinal }) => ordinal)),
    int8s(docs.map(({ incarnation }) => incarnation)),
    int8s(docs.map(({ seq }) => seq)),
    int8s(docs.map(({ at }) => at)),
    ...[own.all, own.starts, own.ends, inherited.all, inherited.starts, inherited.ends],
    int4s(docs.map(({ place }) => place)),
  ]
}

/** Inserts new rows into the segments of their positions, and updates the others. */
const writeDocs = (
  docs: readonly Doc[],
  segments: Segments | undefined,
  traces: ReadonlyMap<string, TraceTokens>,
  write: WriteStatement,
) => {
  const [added, others] = [docs.filter(({ seq }) => seq !== undefined), docs.filter(({ seq }) => seq === undefined)]
  for (const [start, some] of Map.groupBy(added, ({ seq }) => segmentAt(segments!, seq!)))
    write('', insertInto(start), values(some, traces))
  if (others.length > 0) write('search-update', update, values(others, traces))
}

const updateValues = `
  update search_docs d set of_trace = ($2::int4[])[u.of_trace_from:u.of_trace_to]
  from unnest($1::uuid[], $3::int4[], $4::int4[]) u (trace_id, of_trace_from, of_trace_to)
  where d.trace_id = u.trace_id and d.of_trace <> ($2::int4[])[u.of_trace_from:u.of_trace_to]`

const writeOtherValues = (traces: readonly (readonly [string, TraceTokens])[], write: WriteStatement) => {
  if (traces.length === 0) return
  const { all, starts, ends } = joined(traces.map(([, one]) => one.tokens))
  write('search-retag', updateValues, [uuids(traces.map(([id]) => id)), all, starts, ends])
}

const docsToWrite = (changes: Changes): DocToWrite[] =>
  [...changes].flatMap(([traceId, { docs }]) => [...docs].map(([ordinal, seq]) => ({ traceId, ordinal, seq })))

/** The PostgreSQL schema from which texts are read, and the approximate number of rows in a segment. */
type Options = { readonly mainSchema: string; readonly segmentRows: number }

const least = (positions: readonly bigint[]): bigint => positions.reduce((a, b) => (a < b ? a : b))

const writeRows = async (changes: Changes, sender: Sender, { mainSchema, segmentRows }: Options): Promise<void> => {
  const setSearchPath = "select set_config('search_path', current_schema() || ',' || $1, true)"
  await sender.read('search-path', setSearchPath, [mainSchema])
  const reader = newDocReader(sender.read, await hashingOf(sender))
  const rows = await reader.readTraces([...changes.keys()])
  const traces = new Map([...rows].map(([id, row]) => [id, reader.tokensOfTrace(row)]))
  const wanted = docsToWrite(changes)
  const added = wanted.flatMap(({ seq }) => seq ?? [])
  const segments = added.length === 0 ? undefined : await makeRoom(sender, least(added), added.length, segmentRows)
  for await (const docs of reader.docsOf(wanted, rows)) writeDocs(docs, segments, traces, sender.write)
  const others = [...changes].flatMap(([id, { hasOtherValues }]) => {
    const values = traces.get(id)
    return hasOtherValues && values ? [[id, values] as const] : []
  })
  writeOtherValues(others, sender.write)
}

/** The search index. Texts are read from the present rows of the main group, so the order of their changes does not matter. */
export const searchDocs = (mainSchema: string, segmentRows = SEGMENT_ROWS) =>
  projectionOf<TraceEvent>()<Changes>({
    name: 'search',
    tables: createSearchDocs,
    rows: { search_docs: { trace: 'trace_id' } },
    indexes: '', // each segment gets its index when it has all its rows
    start: () => new Map(),
    on: {
      TraceCreated: traceCreated,
      TraceUpdated: traceUpdated,
      TraceSummarised: traceSummarised,
      MessageAdded: messageAdded,
      MessageUpdated: messageUpdated,
      HistoryErased: historyErased,
      TraceDeleted: traceDeleted,
      MessagesCounted: 'ignored',
      MessageRestated: 'ignored',
    },
    write: writeRemoved,
    derive: (changes, sender) => {
      const isNeeded = [...changes.values()].some(({ docs, hasOtherValues }) => docs.size > 0 || hasOtherValues)
      return isNeeded ? writeRows(changes, sender, { mainSchema, segmentRows }) : undefined
    },
  })
