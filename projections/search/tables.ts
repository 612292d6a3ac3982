import { erasedFrom } from '../tables.ts'

/**
 * What is found: a row for each message, and one with the ordinal -1 for each trace itself. `seq` is the position of the event that added
 * it. `at` is the time of the message. `tokens` are hashes of all that it is found by, `of_trace` those of its trace (`../../src/trace/tokens/`),
 * so that a change of a trace needs no text. Rows of another incarnation than that of the trace are not found.
 */
const columns = `
  trace_id uuid not null, incarnation int8 not null, ordinal int4 not null, seq int8 not null, at int8 not null,
  tokens int4[] not null, of_trace int4[] not null`

/** The ordinal of a trace itself. */
export const TRACE_ITSELF = -1

/** So many rows, about, are in one segment: an index grows slower with its size, and a query ends once it has found enough in the newest. */
export const SEGMENT_ROWS = 131_072

/** A segment has the rows from a position on. */
export const segmentName = (from: bigint | number): string => `search_docs_${from}`

/** The first position of a segment, by its name. */
export const segmentStart = (name: string): bigint => BigInt(name.slice(name.lastIndexOf('_') + 1))

/** SQL that creates the newest segment. Hashes cannot be compressed, and the planner needs no statistics of them. */
export const createSegment = (from: bigint | number): string => `
  create table ${segmentName(from)} partition of search_docs for values from (${from}) to (maxvalue) with (${erasedFrom});
  alter table ${segmentName(from)}
    alter tokens set storage external, alter tokens set statistics 0, alter of_trace set statistics 0;`

export const createSearchDocs = `
  create table search_docs (${columns}, primary key (trace_id, incarnation, ordinal, seq)) partition by range (seq);
  ${createSegment(0)}`

/** SQL for the names of all segments. */
export const segmentsStatement = `
  select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'search_docs'::regclass`
