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
 * The approximate number of rows in a segment that batches fill. A segment has no index of hashes, and a query reads all its rows, until it has all of
 * them: to index the hashes of a whole segment at once takes a tenth of the time that it takes row by row.
 */
export const SEGMENT_ROWS = 8_192

/**
 * The rows of the index whose positions are from `start` up to `end`, which is where the next segment begins; undefined for the newest one. A segment of
 * level 0 is filled by batches. One of level n was merged from as many as `MERGED ** n` of these, and has so many slices.
 */
export type Segment = { readonly start: bigint; readonly end?: bigint; readonly level: number }

/** So many segments become one of the next level. */
export const MERGED = 8
/** Segments of this level, of four million rows, stay as they are. */
export const HIGHEST_LEVEL = 3

type Named = Pick<Segment, 'start' | 'level'>

export const segmentName = ({ start, level }: Named): string => `search_docs_${start}_${level}`

/** The segments with these names, the newest first. */
export const segmentsOfNames = (names: readonly string[]): Segment[] =>
  names
    .map((name) => {
      const [start, level] = name.split('_').slice(-2) as [string, string]
      return { start: BigInt(start), level: Number(level) }
    })
    .sort((a, b) => Number(b.start - a.start))
    .map((segment, i, all) => (i === 0 ? segment : { ...segment, end: all[i - 1]!.start }))

/** How many positions a slice has of a segment that is not the newest: as many as the others, but for the last. */
const widthOf = ({ start, end, level }: Segment): bigint => {
  const slices = BigInt(MERGED ** level)
  return (end! - start + slices - 1n) / slices
}

/** The first positions of the slices of a segment, the oldest first. */
export const sliceStarts = (segment: Segment): bigint[] => {
  if (segment.level === 0) return [segment.start]
  const [width, starts] = [widthOf(segment), [] as bigint[]]
  for (let from = segment.start; from < segment.end!; from += width) starts.push(from)
  return starts
}

/** SQL for the number of a row's slice, in an array: the index of hashes has it as well, so that some slices can be read alone. */
export const sliceOf = (segment: Segment): string => `array[((seq - ${segment.start}) / ${widthOf(segment)})::int4]`

const key = 'primary key (trace_id, incarnation, ordinal, seq)'

/** Hashes cannot be compressed, and the planner needs no statistics of them. */
const withoutStatistics = (segment: Named) => `
  alter table ${segmentName(segment)}
    alter tokens set storage external, alter tokens set statistics 0, alter of_trace set statistics 0;`

/**
 * SQL that creates the newest segment. It inherits from the table of all rows instead of being a partition of it, because the end of
 * a partition cannot be set while the partition is read.
 */
export const createSegment = (start: bigint): string => `
  create table ${segmentName({ start, level: 0 })} (${key}) inherits (search_docs) with (${erasedFrom});
  ${withoutStatistics({ start, level: 0 })}`

/** SQL that creates a segment which is not one of the index yet. */
export const createMerged = (segment: Named): string => `
  create table ${segmentName(segment)} (like search_docs) with (${erasedFrom});
  ${withoutStatistics(segment)}`

/** SQL for the key of such a segment, once it has its rows. */
export const keyOfMerged = (segment: Named): string => `alter table ${segmentName(segment)} add ${key}`

/** SQL for the index of a segment that is complete. PostgreSQL collects later changes in a short list, which each query reads too. */
export const indexSegment = (segment: Segment): string => `
  create index on ${segmentName(segment)} using gin (tokens, of_trace${segment.level === 0 ? '' : `, (${sliceOf(segment)})`})
    with (fastupdate = on, gin_pending_list_limit = 512)`

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

/**
 * `search_portions` has one row, with the number of portions of the backlog that have been worked off. `search_changed` names rows that were changed or
 * removed while segments are merged; those of a whole trace without an ordinal.
 */
export const createSearchDocs = `
  create table search_docs (${columns}, ${key});
  ${createSegment(0n)}
  ${backlogTable.create}
  create index on search_backlog (namespace_id, position, ordinal);
  create index on search_backlog (position) where is_new;
  create table search_portions (count int4 not null);
  insert into search_portions values (0);
  create table search_changed (trace_id uuid not null, ordinal int4);`

const segments = `pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'search_docs'::regclass`

/** SQL for the names of all segments. */
export const segmentsStatement = `select c.relname as name from ${segments}`

const hasIndex = `exists (
  select from pg_index x join pg_class g on g.oid = x.indexrelid join pg_am a on a.oid = g.relam
  where x.indrelid = c.oid and a.amname = 'gin')`

/** SQL for the names of all segments, each with whether it has its index of hashes. */
export const indexedStatement = `select c.relname as name, ${hasIndex} as "isIndexed" from ${segments}`

/** SQL for the first positions of the segments but the newest that have no index of hashes yet, and whether they have all their rows, the oldest first. */
export const unindexedStatement = `
  select c.start, coalesce(c.end <= (select position from search_backlog where is_new order by position limit 1), true) as "isComplete"
  from (
    select c.oid, c.start, lead(c.start) over (order by c.start) as end
    from (select c.oid, substring(c.relname from '(\\d+)_\\d+$')::int8 as start from ${segments}) c
  ) c
  where c.end is not null and not ${hasIndex}
  order by c.start`
