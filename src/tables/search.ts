import { erasedFrom, listedFrom } from './storage.ts'
import { tableOf } from './table.ts'

/**
 * The search index: a row (`doc`) for each message, and a row with the ordinal -1 for each trace itself. `seq` is the position of the event
 * that added the row, `at` the time of the message, `place` the best of the places of its texts, as an index of `allPlaces`. `tokens` are
 * the hashes of the message's words and values, `of_trace` those of its trace's values (`../server/trace/tokens`), so that a change of a
 * trace can be written without reading texts. Searches ignore rows of an earlier incarnation of the trace. `late` is 0 for a row that was
 * written with its event, else the number of the portion of the backlog that has added it.
 */
const columns = `
  trace_id uuid not null, incarnation int8 not null, ordinal int4 not null, place int2 not null, seq int8 not null, at int8 not null,
  late int4 not null, tokens int4[] not null, of_trace int4[] not null`

/** The ordinal of a trace itself. */
export const TRACE_ITSELF = -1

/**
 * The approximate number of rows in a segment. A segment has no index of hashes, and a query reads all its rows, until it has all of them: to
 * index the hashes of a whole segment at once takes a tenth of the time that it takes row by row.
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

/**
 * Rows of the index that still have to be written, because their texts are too long for the batch of their event: without the texts, which may be
 * deleted meanwhile. `position` and `recorded_at` are those of the event, `is_new` says whether it has added the row or changed its text.
 */
export const backlogTable = tableOf(
  'search_backlog',
  {
    namespace_id: 'uuid not null',
    trace_id: 'uuid not null',
    ordinal: 'int4 not null',
    position: 'int8 not null',
    recorded_at: 'int8 not null',
    is_new: 'bool not null',
  },
  { constraint: 'primary key (trace_id, ordinal)', storage: listedFrom },
)

/** `search_portions` has one row, with the number of portions of the backlog that have been worked off. */
export const createSearchDocs = `
  create table search_docs (${columns}, ${key});
  ${createSegment(0)}
  ${backlogTable.create}
  create index on search_backlog (namespace_id, position, ordinal);
  create index on search_backlog (position) where is_new;
  create table search_portions (count int4 not null);
  insert into search_portions values (0);`

const segments = `pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'search_docs'::regclass`

/** SQL for the names of all segments. */
export const segmentsStatement = `select c.relname as name from ${segments}`

/** SQL for the first positions of the segments but the newest that have no index of hashes yet, and whether they have all their rows, the oldest first. */
export const unindexedStatement = `
  select s.start, coalesce(s.end <= (select position from search_backlog where is_new order by position limit 1), true) as "isComplete"
  from (
    select c.oid, c.start, lead(c.start) over (order by c.start) as end
    from (select c.oid, substring(c.relname from '\\d+$')::int8 as start from ${segments}) c
  ) s
  where s.end is not null and not exists (
    select from pg_index x join pg_class g on g.oid = x.indexrelid join pg_am a on a.oid = g.relam
    where x.indrelid = s.oid and a.amname = 'gin'
  )
  order by s.start`

/** The first positions of segments with these names, the newest first. */
export const startsOf = (names: readonly string[]): bigint[] =>
  names.map(segmentStart).toSorted((a, b) => Number(b - a))
