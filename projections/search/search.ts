import { type Sender, type WriteStatement, projectionOf } from '../../src/engine/projection.ts'
import { int4s, int8s, uuids } from '../../src/postgres/arrays.ts'
import type { TraceEvent } from '../../src/trace/events.ts'
import { type HashOf, type KeyRow, keyStatement, newHashes } from '../../src/trace/tokens/hashes.ts'
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
import { type Doc, type OfTrace, type Wanted, newDocReader } from './read-docs.ts'
import { makeRoom } from './segments.ts'
import { SEGMENT_ROWS, createSearchDocs } from './tables.ts'

/** So many messages are read at once. */
const CHUNK = 64

const hashes = new WeakMap<object, HashOf>()

const hashesOf = async ({ read, session }: Sender): Promise<HashOf> => {
  let known = hashes.get(session)
  if (!known) {
    const [row] = await read<KeyRow>('search-key', keyStatement, [])
    hashes.set(session, (known = newHashes(row!.key)))
  }
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

/** Arrays of different lengths as one, and where each ends in it. */
const joined = (arrays: readonly Int32Array[]) => {
  const all: number[] = []
  const ends = arrays.map((one) => {
    for (const value of one) all.push(value)
    return all.length
  })
  return { all: int4s(all), starts: int4s(ends.map((_, i) => (ends[i - 1] ?? 0) + 1)), ends: int4s(ends) }
}

const given = `
  unnest($1::uuid[], $2::int4[], $3::int8[], $4::int8[], $5::int8[], $7::int4[], $8::int4[], $10::int4[], $11::int4[])
    u (trace_id, ordinal, incarnation, seq, at, tokens_from, tokens_to, of_trace_from, of_trace_to)`
const tokens = '($6::int4[])[u.tokens_from:u.tokens_to]'
const ofTrace = '($9::int4[])[u.of_trace_from:u.of_trace_to]'

const insert = `
  insert into search_docs (trace_id, ordinal, incarnation, seq, at, tokens, of_trace)
  select u.trace_id, u.ordinal, u.incarnation, u.seq, u.at, ${tokens}, ${ofTrace} from ${given}`

const update = `
  update search_docs d set incarnation = u.incarnation, at = u.at, tokens = ${tokens}, of_trace = ${ofTrace} from ${given}
  where d.trace_id = u.trace_id and d.ordinal = u.ordinal`

const writeDocs = (
  name: string,
  text: string,
  docs: readonly Doc[],
  traces: ReadonlyMap<string, OfTrace>,
  write: WriteStatement,
) => {
  if (docs.length === 0) return
  const [own, inherited] = [docs.map((doc) => doc.tokens), docs.map(({ traceId }) => traces.get(traceId)!.tokens)]
  const [a, b] = [joined(own), joined(inherited)]
  write(name, text, [
    uuids(docs.map(({ traceId }) => traceId)),
    int4s(docs.map(({ ordinal }) => ordinal)),
    int8s(docs.map(({ incarnation }) => incarnation)),
    int8s(docs.map(({ seq }) => seq)),
    int8s(docs.map(({ at }) => at)),
    ...[a.all, a.starts, a.ends, b.all, b.starts, b.ends],
  ])
}

const retag = `
  update search_docs d set of_trace = ($2::int4[])[u.of_trace_from:u.of_trace_to]
  from unnest($1::uuid[], $3::int4[], $4::int4[]) u (trace_id, of_trace_from, of_trace_to)
  where d.trace_id = u.trace_id and d.of_trace <> ($2::int4[])[u.of_trace_from:u.of_trace_to]`

const writeOtherValues = (traces: readonly (readonly [string, OfTrace])[], write: WriteStatement) => {
  if (traces.length === 0) return
  const { all, starts, ends } = joined(traces.map(([, one]) => one.tokens))
  write('search-retag', retag, [uuids(traces.map(([id]) => id)), all, starts, ends])
}

const wantedOf = (changes: Changes): Wanted[] =>
  [...changes].flatMap(([traceId, { docs }]) => [...docs].map(([ordinal, seq]) => ({ traceId, ordinal, seq })))

/** Where texts are read, and about how many rows a segment gets. */
type Options = { readonly mainSchema: string; readonly segmentRows: number }

const write = async (changes: Changes, sender: Sender, { mainSchema, segmentRows }: Options): Promise<void> => {
  const path = "select set_config('search_path', current_schema() || ',' || $1, true)"
  await sender.read('search-path', path, [mainSchema])
  const reader = newDocReader(sender.read, await hashesOf(sender))
  const rows = await reader.readTraces([...changes.keys()])
  const traces = new Map([...rows].map(([id, row]) => [id, reader.ofTrace(row)]))
  const wanted = wantedOf(changes)
  const added = wanted.flatMap(({ seq }) => seq ?? [])
  if (added.length > 0)
    await makeRoom(
      sender,
      added.reduce((a, b) => (a < b ? a : b)),
      added.length,
      segmentRows,
    )
  for (let i = 0; i < wanted.length; i += CHUNK) {
    const docs = await reader.docsOf(wanted.slice(i, i + CHUNK), rows)
    const isNew = ({ seq }: Doc) => seq !== undefined
    writeDocs('search-insert', insert, docs.filter(isNew), traces, sender.write)
    writeDocs(
      'search-update',
      update,
      docs.filter((doc) => !isNew(doc)),
      traces,
      sender.write,
    )
  }
  const others = [...changes].flatMap(([id, { hasOtherValues }]) => {
    const values = traces.get(id)
    return hasOtherValues && values ? [[id, values] as const] : []
  })
  writeOtherValues(others, sender.write)
}

/** What is found, by hashes of words. Texts are read from the present rows of the main group, so it does not matter in which order they changed. */
export const searchDocs = (mainSchema: string, segmentRows = SEGMENT_ROWS) =>
  projectionOf<TraceEvent>()<Changes>({
    name: 'search',
    tables: createSearchDocs,
    rows: { search_docs: { trace: 'trace_id' } },
    // New entries are collected in a short list, which each query reads as well.
    indexes: `create index search_docs_tokens on search_docs using gin (tokens, of_trace)
      with (fastupdate = on, gin_pending_list_limit = 256);`,
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
      return isNeeded ? write(changes, sender, { mainSchema, segmentRows }) : undefined
    },
  })
