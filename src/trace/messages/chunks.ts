import type { ReadTables } from '../../../projections/tables.ts'
import type { Reads, Row } from '../../engine/reads.ts'
import { BrokenOff, type Chunk } from '../../http/long-list.ts'
import { int4s } from '../../postgres/arrays.ts'
import { type LaterMessage, type ListedMessages, isUnchanged, listedMessages } from './listed.ts'
import {
  type Chosen,
  type MessageListRow,
  type RevisedRow,
  type WantedMessages,
  columns,
  listed,
  listedTrace,
  revised,
  sizeShown,
  statementName,
  withParts,
} from './queries.ts'

/** About how many characters a chunk holds, unless a message alone holds more. */
export const CHUNK_WEIGHT = 512 * 1024
/** Up to this many characters a trace is read in one statement. */
export const WHOLE_WEIGHT = 8 * 1024 * 1024
/** How many messages are asked for: at first, then as many as were small enough before, within these bounds. */
const FIRST = 64
const FEWEST = 8
const MOST = 1_000

type TraceReads = Pick<Reads<ReadTables>, 'rows'>
type MessageChunk = Chunk<MessageListRow> & { readonly revision: bigint }
type ChunkRow = MessageListRow & LaterMessage & { size: bigint }

const partsOf = ({ includeParts }: Pick<WantedMessages, 'includeParts'>) => (includeParts ? withParts : '')

// Of the messages asked for as many as weigh little enough, in the order that they were asked for, at least one. Sizes
// are those of the rows, without reading what is stored beside them. Each message is looked up by itself: in a plain join
// the planner may go through the whole trace for each.
export const chunkStatement = (wanted: Pick<WantedMessages, 'includeParts'>): string => `
  select m.revision, m.trace_revision, m.size, ${columns} ${partsOf(wanted)} from (
    select m.*, t.revision as trace_revision, k.nth, sum(m.size) over (order by k.nth rows unbounded preceding) - m.size as before
    from traces t cross join unnest($3::int4[]) with ordinality k (ordinal, nth)
    cross join lateral (
      select m.*, (${sizeShown(wanted.includeParts)})::int8 as size from messages m
      where m.trace_id = t.id and m.incarnation = t.incarnation and m.ordinal = k.ordinal limit 1
    ) m
    where t.id = $1 and t.incarnation = $2
  ) m where m.before < $4 order by m.nth`

/** What is asked of a trace that is not too large, in one statement and so of one snapshot; no row when it is too large. */
export const wholeStatement = (wanted: Pick<WantedMessages, 'includeParts'> & { readonly chosen?: Chosen }): string => `
  select t.revision as trace_revision, m.* from traces t
  left join lateral (${listed(`${columns} ${partsOf(wanted)}`, wanted.chosen)}) m on true
  where ${listedTrace} and t.bytes <= ${WHOLE_WEIGHT}`

const wholeChunk = async (reads: TraceReads, wanted: WantedMessages): Promise<MessageChunk | undefined> => {
  if (wanted.weight > WHOLE_WEIGHT) return undefined
  const name = statementName('messages-whole', wanted)
  const given = await reads.rows<RevisedRow & Row>(name, wholeStatement(wanted), wanted.values)
  if (given.length === 0) return undefined
  const { rows, revision } = revised(given)
  return { rows, revision, weight: rows.reduce((sum, row) => sum + weigh(row), 0) }
}

const weigh = ({ text_content, parts }: MessageListRow) => 500 + (text_content?.length ?? 0) + (parts?.length ?? 0)

/** Some of the messages that are listed, of one chunk. @throws BrokenOff when they are not what they were */
const nextChunk = async (
  reads: TraceReads,
  wanted: WantedMessages,
  listed: ListedMessages,
  asked: Int32Array,
): Promise<MessageChunk> => {
  const values = [wanted.values[0], wanted.incarnation, int4s([...asked]), CHUNK_WEIGHT]
  const rows = await reads.rows<ChunkRow & Row>(
    `messages-chunk${wanted.includeParts ? '-parts' : ''}`,
    chunkStatement(wanted),
    values,
  )
  if (rows.length === 0) throw new BrokenOff('its trace is gone')
  for (const [i, row] of rows.entries()) {
    if (row.ordinal !== asked[i] || !isUnchanged(listed, row))
      throw new BrokenOff('messages were changed while it was being read')
  }
  const weight = rows.reduce((sum, { size }) => sum + Number(size), 0)
  return { rows, revision: listed.revision, weight: weight + listed.ordinals.byteLength }
}

/**
 * The messages of one snapshot: all at once where that is little, else chunk by chunk. What is added meanwhile is left
 * out; where a message that is still to come is changed meanwhile, the list is broken off: it would show half a batch.
 */
export async function* messageChunks(reads: TraceReads, wanted: WantedMessages): AsyncGenerator<MessageChunk, void> {
  const whole = await wholeChunk(reads, wanted)
  if (whole) return yield whole
  const listed = await listedMessages(reads, wanted)
  let count = FIRST
  for (let start = 0; start < listed.ordinals.length;) {
    const asked = listed.ordinals.subarray(start, start + count)
    const chunk = await nextChunk(reads, wanted, listed, asked)
    start += chunk.rows.length
    // No more are weighed than twice as many as a chunk takes.
    count = Math.min(Math.max(2 * chunk.rows.length, FEWEST), MOST)
    yield chunk
  }
}
