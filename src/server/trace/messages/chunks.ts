import type { ReadTables } from '../../../tables/main.ts'
import type { Reads, Row } from '../../../eventstore/engine/reads.ts'
import { BrokenOff, type Chunk } from '../../http/long-list.ts'
import { int4s } from '../../../eventstore/postgres/arrays.ts'
import { type MessageListRow, columns, sizeShown, withParts } from './queries.ts'
import { type PageTrace, type PageToRead, readPage } from './read-page.ts'

/** About how many characters a chunk holds, unless a message alone holds more. */
export const CHUNK_SIZE = 512 * 1024
/** A trace of at most this many characters is read in one statement. */
const WHOLE_SIZE = 8 * 1024 * 1024
/** How many messages a statement asks for: first `FIRST`, then twice as many as fitted before, within these bounds. */
const FIRST = 64
const FEWEST = 8
const MOST = 1_000

type TraceReads = Pick<Reads<ReadTables>, 'rows' | 'assertNotQuarantined'>
type MessageChunk = Chunk<MessageListRow> & { readonly revision: bigint }
/** A message, with the revisions of its last event and of its trace in the snapshot of the row, and about how many characters it has. */
type ChunkRow = MessageListRow & LaterMessage & { readonly size: bigint }

/** A trace that was found. `bytes` is the approximate number of characters that its messages had then; it only grows. */
type FoundTrace = Pick<PageTrace, 'id' | 'incarnation'> & { readonly bytes: number | bigint }

/** The most characters of messages that are read at once. */
export const chunkSizeOf = ({ bytes }: Pick<FoundTrace, 'bytes'>): number =>
  bytes <= WHOLE_SIZE ? Number(bytes) : CHUNK_SIZE

// As many of the messages asked for as fit into a chunk, in the order that they were asked for, at least one. Sizes
// are those of the rows, without reading what is stored beside them. Each message is looked up by itself: in a plain join
// the planner may go through the whole trace for each.
export const chunkStatement = (includeParts: boolean): string => `
  select m.revision, m.trace_revision, m.size, ${columns} ${includeParts ? withParts : ''} from (
    select m.*, t.revision as trace_revision, k.nth, sum(m.size) over (order by k.nth rows unbounded preceding) - m.size as before
    from traces t cross join unnest($3::int4[]) with ordinality k (ordinal, nth)
    cross join lateral (
      select m.*, (${sizeShown(includeParts)})::int8 as size from messages m
      where m.trace_id = t.id and m.incarnation = t.incarnation and m.ordinal = k.ordinal limit 1
    ) m
    where t.id = $1 and t.incarnation = $2
  ) m where m.before < $4 order by m.nth`

/** The first of these messages, in their present state: as many as fit into a chunk. @throws BrokenOff if one does not exist any more */
export const readChunk = async (
  reads: Pick<TraceReads, 'rows'>,
  { id, incarnation }: Pick<PageTrace, 'id' | 'incarnation'>,
  asked: Int32Array | readonly number[],
  includeParts: boolean,
): Promise<ChunkRow[]> => {
  const name = `messages-chunk${includeParts ? '-parts' : ''}`
  const values = [id, incarnation, int4s([...asked]), CHUNK_SIZE]
  const rows = await reads.rows<ChunkRow & Row>(name, chunkStatement(includeParts), values)
  if (rows.length === 0 || rows.some(({ ordinal }, i) => ordinal !== asked[i]))
    throw new BrokenOff('the trace was deleted meanwhile')
  return rows
}

/** The revisions of a message's last event, and of its trace, in a later snapshot. */
type LaterMessage = { readonly revision: bigint; readonly trace_revision: bigint }

/** Whether a message has not changed since a revision of its trace. */
export const isUnchanged = (since: bigint, { revision, trace_revision }: LaterMessage): boolean =>
  // A trace at an earlier revision proves nothing: a crash of PostgreSQL may have undone the last changes of the read models.
  trace_revision >= since && revision <= since

const sizeOf = ({ text_content, parts }: MessageListRow) => 500 + (text_content?.length ?? 0) + (parts?.length ?? 0)

/** Which messages of a trace are read, by default all, and for which user. */
export type MessagesToRead = Omit<PageToRead, 'named' | 'incarnation'> & { readonly userId: string | undefined }

/** The messages that are still to be read, by their ordinals, and the revision of the trace in whose state they are listed. */
type Rest = { readonly ordinals: Int32Array; readonly revision: bigint; readonly includeParts: boolean }

/** Reads messages chunk by chunk. @throws BrokenOff if one does not exist any more, or has changed meanwhile */
export async function* chunksOf(
  reads: Pick<TraceReads, 'rows'>,
  trace: Pick<PageTrace, 'id' | 'incarnation'>,
  { ordinals, revision, includeParts }: Rest,
): AsyncGenerator<MessageChunk, void> {
  let count = FIRST
  for (let start = 0; start < ordinals.length;) {
    const chunk = await readChunk(reads, trace, ordinals.subarray(start, start + count), includeParts)
    if (!chunk.every((row) => isUnchanged(revision, row)))
      throw new BrokenOff('messages were changed while it was being read')
    start += chunk.length
    // The next statement asks for at most twice as many as fitted into this chunk.
    count = Math.min(Math.max(2 * chunk.length, FEWEST), MOST)
    yield { rows: chunk, revision, size: chunk.reduce((sum, { size }) => sum + Number(size), ordinals.byteLength) }
  }
}

/**
 * The messages of one snapshot: all at once if they are small, otherwise chunk by chunk. Messages that are added meanwhile are left out. If a
 * message that has not been sent yet changes meanwhile, the list is broken off, because it would show half of a batch.
 * @throws the errors of `readPage`, and BrokenOff
 */
export async function* messageChunks(
  reads: TraceReads,
  trace: FoundTrace,
  { userId, ...wanted }: MessagesToRead,
): AsyncGenerator<MessageChunk, void> {
  const { id, incarnation } = trace
  const named = [id, userId ?? null, null, null] as const
  const most = trace.bytes <= WHOLE_SIZE ? WHOLE_SIZE : CHUNK_SIZE
  const { rows, rest, trace: { revision } } = await readPage(reads, { ...wanted, named, incarnation }, most) // prettier-ignore
  const held = rest?.byteLength ?? 0
  yield { rows, revision, size: rows.reduce((sum, row) => sum + sizeOf(row), held) }
  if (!rest) return
  yield* chunksOf(reads, trace, { ordinals: rest, revision, includeParts: wanted.includeParts })
}
