import { type Portion, projectionOf, type Sender, type WriteStatement } from '../../src/eventstore/engine/projection.ts'
import { int4s, int8s, joinedInt4s, uuids } from '../../src/eventstore/postgres/arrays.ts'
import type { TraceEvent } from '../../src/server/trace/events.ts'
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
import { divide, nextInBacklog, putIntoBacklog, removeFromBacklog, removeWritten } from './backlog.ts'
import { type Doc, type DocToWrite, type Hashing, newDocReader, readHashing, type TraceTokens } from './read-docs.ts'
import { mergeSegments, noteChanged } from './merge.ts'
import { makeRoom, segmentAt, segmentsOf, segmentToIndex } from './segments.ts'
import { createSearchDocs, indexSegment, type Segment, SEGMENT_ROWS, segmentName } from '../../src/tables/search.ts'

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
  const removed = [...changes].flatMap(([id, { removedBefore }]) =>
    removedBefore === undefined ? [] : [[id, removedBefore] as const],
  )
  if (removed.length === 0) return
  noteChanged(
    removed.map(([traceId]) => ({ traceId })),
    write,
  )
  write('search-remove', remove, [uuids(removed.map(([id]) => id)), int8s(removed.map(([, before]) => before))])
  removeFromBacklog(removed, write)
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

const insertInto = (segment: Segment, late: string) => `
  insert into ${segmentName(segment)} (trace_id, ordinal, place, incarnation, seq, at, late, tokens, of_trace)
  select u.trace_id, u.ordinal, u.place, u.incarnation, u.seq, u.at, ${late}, ${tokens}, ${ofTrace} from ${given}`

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
    int8s(docs.map(({ position }) => position)),
    int8s(docs.map(({ at }) => at)),
    ...[own.all, own.starts, own.ends, inherited.all, inherited.starts, inherited.ends],
    int4s(docs.map(({ place }) => place)),
  ]
}

/** Where new rows are inserted, and SQL for what they have in the column `late`. */
type Place = { readonly segments: readonly Segment[]; readonly late: string }

/** Inserts new rows into the segments of their positions, and updates the others. */
const writeDocs = (
  docs: readonly Doc[],
  { segments, late }: Place,
  traces: ReadonlyMap<string, TraceTokens>,
  write: WriteStatement,
) => {
  const [added, others] = [docs.filter(({ isNew }) => isNew), docs.filter(({ isNew }) => !isNew)]
  for (const [segment, some] of Map.groupBy(added, ({ position }) => segmentAt(segments, position)))
    write('', insertInto(segment, late), values(some, traces))
  // Of a stream that was replayed, rows of old segments may have waited as well.
  noteChanged([...others, ...added.filter(({ position }) => position < segments[0]!.start)], write)
  if (others.length > 0) write('search-update', update, values(others, traces))
}

const updateValues = `
  update search_docs d set of_trace = ($2::int4[])[u.of_trace_from:u.of_trace_to]
  from unnest($1::uuid[], $3::int4[], $4::int4[]) u (trace_id, of_trace_from, of_trace_to)
  where d.trace_id = u.trace_id and d.of_trace <> ($2::int4[])[u.of_trace_from:u.of_trace_to]`

const writeOtherValues = (traces: readonly (readonly [string, TraceTokens])[], write: WriteStatement) => {
  if (traces.length === 0) return
  noteChanged(
    traces.map(([traceId]) => ({ traceId })),
    write,
  )
  const { all, starts, ends } = joined(traces.map(([, one]) => one.tokens))
  write('search-retag', updateValues, [uuids(traces.map(([id]) => id)), all, starts, ends])
}

const docsToWrite = (changes: Changes): DocToWrite[] =>
  [...changes].flatMap(([traceId, { docs }]) => [...docs].map(([ordinal, reason]) => ({ traceId, ordinal, ...reason })))

/** The PostgreSQL schema from which texts are read, and the approximate number of rows in a segment. */
type Options = { readonly mainSchema: string; readonly segmentRows: number }

const least = (positions: readonly bigint[]): bigint => positions.reduce((a, b) => (a < b ? a : b))

/** Lets the statements of this transaction read the tables of the main group as well. */
const openMainSchema = ({ write }: Sender, mainSchema: string): void =>
  write('search-path', "select set_config('search_path', current_schema() || ',' || $1, true)", [mainSchema])

/** Reads traces, and makes their rows. */
const openWriter = async (sender: Sender, traceIds: readonly string[]) => {
  const reader = newDocReader(sender.read, await hashingOf(sender))
  const rows = await reader.readTraces(traceIds)
  const traces = new Map([...rows].map(([id, row]) => [id, reader.tokensOfTrace(row)]))
  const write = async (docs: readonly DocToWrite[], place: Place) => {
    for await (const some of reader.docsOf(docs, rows)) writeDocs(some, place, traces, sender.write)
  }
  return { rows, traces, write }
}

/** Writes the rows that a batch changes, but for those that have to wait. */
const writeRows = async (changes: Changes, sender: Sender, { mainSchema, segmentRows }: Options): Promise<void> => {
  openMainSchema(sender, mainSchema)
  const { rows, traces, write } = await openWriter(sender, [...changes.keys()])
  const wanted = docsToWrite(changes)
  const added = wanted.filter(({ isNew }) => isNew).map(({ position }) => position)
  const segments = added.length === 0 ? [] : await makeRoom(sender, least(added), added.length, segmentRows)
  const namespaceOf = (traceId: string) => rows.get(traceId)?.namespace_id
  const { now, later } = await divide(sender.read, wanted, namespaceOf)
  await write(now, { segments, late: '0' })
  putIntoBacklog(later, namespaceOf, sender.write)
  const others = [...changes].flatMap(([id, { hasOtherValues }]) => {
    const values = traces.get(id)
    return hasOtherValues && values ? [[id, values] as const] : []
  })
  writeOtherValues(others, sender.write)
}

/** Writes rows that have waited. */
const writeWaiting = async (docs: readonly DocToWrite[], sender: Sender): Promise<void> => {
  const { write } = await openWriter(sender, [...new Set(docs.map(({ traceId }) => traceId))])
  sender.write('search-portion', 'update search_portions set count = count + 1', [])
  await write(docs, { segments: await segmentsOf(sender.read), late: '(select count from search_portions)' })
  removeWritten(docs, sender.write)
}

/** The index of a segment that has all its rows now, or rows that have waited. */
const nextPortion = async (sender: Sender, mainSchema: string, mostRows?: number): Promise<Portion | undefined> => {
  const complete = await segmentToIndex(sender)
  if (complete !== undefined)
    return { first: undefined, rows: 0, work: async () => sender.write('', indexSegment(complete), []) }
  openMainSchema(sender, mainSchema)
  const docs = await nextInBacklog(sender, mostRows)
  const [first] = docs
  return (
    first && {
      first: { stream: `trace-${first.traceId}`, position: first.position },
      rows: docs.length,
      work: () => writeWaiting(docs, sender),
    }
  )
}

/** The search index. Texts are read from the present rows of the main group, so the order of their changes does not matter. */
export const searchDocs = (mainSchema: string, segmentRows = SEGMENT_ROWS) =>
  projectionOf<TraceEvent>()<Changes>({
    name: 'search',
    tables: createSearchDocs,
    rows: { search_docs: { trace: 'trace_id' }, search_backlog: { trace: 'trace_id' } },
    notCompared: ['search_docs.late', 'search_portions', 'search_changed'],
    beforeReplay: { trace: (traceId, write) => noteChanged([{ traceId }], write) },
    indexes: '', // each segment gets its index when it has all its rows: see `segmentToIndex`
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
      TraceArriving: 'ignored',
    },
    write: writeRemoved,
    derive: (changes, sender) => {
      const isNeeded = [...changes.values()].some(({ docs, hasOtherValues }) => docs.size > 0 || hasOtherValues)
      return isNeeded ? writeRows(changes, sender, { mainSchema, segmentRows }) : undefined
    },
    backlog: {
      next: (sender, mostRows) => nextPortion(sender, mainSchema, mostRows),
      drop: (id, write) => write('', 'delete from search_backlog where trace_id = $1', [id]),
    },
    upkeep: mergeSegments,
  })
