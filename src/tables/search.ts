import { erasedFrom } from './main.ts'

/**
 * The search index: a row (`doc`) for each message, and a row with the ordinal -1 for each trace itself. `seq` is the position of the event
 * that added the row, `at` the time of the message, `place` the best of the places of its texts, as an index of `allPlaces`. `tokens` are
 * the hashes of the message's words and values, `of_trace` those of its trace's values (`../trace/tokens`), so that a change of a
 * trace can be written without reading texts. Searches ignore rows of an earlier incarnation of the trace.
 */
const columns = `
  trace_id uuid not null, incarnation int8 not null, ordinal int4 not null, place int2 not null, seq int8 not null, at int8 not null,
  tokens int4[] not null, of_trace int4[] not null`

/** The ordinal of a trace itself. */
export const TRACE_ITSELF = -1

/**
 * The approximate number of rows in a segment. The newest segment has no index of hashes, and a query reads all its rows: to index the hashes
 * of a whole segment at once takes a tenth of the time that it takes row by row.
 */
export const SEGMENT_ROWS = 8_192

/** The table of the segment that begins at a position. */
export const segmentName = (from: bigint | number): string => `search_docs_${from}`

/** The first position of a segment, by its name. */
const segmentStart = (name: string): bigint => BigInt(name.slice(name.lastIndexOf('_') + 1))

const key = 'primary key (trace_id, incarnation, ordinal, seq)'

/**
 * SQL that creates the newest segment. It inherits from the table of all rows instead of being a partition of it, because the end of
 * a partition cannot be set while the partition is read. Hashes cannot be compressed, and the planner needs no statistics of them.
 */
export const createSegment = (from: bigint | number): string => `
  create table ${segmentName(from)} (${key}) inherits (search_docs) with (${erasedFrom});
  alter table ${segmentName(from)}
    alter tokens set storage external, alter tokens set statistics 0, alter of_trace set statistics 0;`

/** SQL for the index of a segment that is complete. PostgreSQL collects later changes in a short list, which each query reads too. */
export const indexSegment = (from: bigint): string => `
  create index on ${segmentName(from)} using gin (tokens, of_trace) with (fastupdate = on, gin_pending_list_limit = 512)`

export const createSearchDocs = `
  create table search_docs (${columns}, ${key});
  ${createSegment(0)}`

/** SQL for the names of all segments. */
export const segmentsStatement = `
  select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'search_docs'::regclass`

/** The first positions of segments with these names, the newest first. */
export const startsOf = (names: readonly string[]): bigint[] =>
  names.map(segmentStart).toSorted((a, b) => Number(b - a))
