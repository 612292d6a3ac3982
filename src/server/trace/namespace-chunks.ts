import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { Chunk, Chunks } from '../http/long-list.ts'
import { type After, FAR_FUTURE, summaryColumns, summaryTables, summarySize } from './queries.ts'
import type { ListedRow } from './rows.ts'

/** The approximate number of characters of a chunk, unless a single row has more. */
export const CHUNK_SIZE = 512 * 1024
const CHUNK_ROWS = 1_000

/** The approximate number of characters of a row besides its long texts (`summarySize`). */
export const ROW_CHARACTERS = 500

/** `found`: how many rows the statement has found before it cut the chunk to its size. */
type ChunkRow = ListedRow & { found: bigint }

/** `next` is the trace after which the next chunk begins; undefined for the last chunk. */
type NamespaceChunk = Chunk<ListedRow> & { readonly next: After | undefined }

// PostgreSQL adds up the sizes of rows, and sends only those of the chunk: titles may be long, and are stored compressed.
export const namespaceChunkStatement = `
  select p.* from (
    select r.*, sum(r.size) over (order by r.created_at desc, r.id desc rows unbounded preceding) - r.size as before,
      count(*) over () as found
    from (
      select ${summaryColumns}, ${ROW_CHARACTERS} + ${summarySize} as size
      from (
        select id, created_at from feed where namespace_id = $1 and (created_at, id) < ($2, $3)
        order by created_at desc, id desc limit $4
      ) f ${summaryTables}
    ) r
  ) p where p.before < $5 order by p.created_at desc, p.id desc`

/** Reads a chunk of the traces of a namespace, of any visibility, newest first: the first chunk, or the one after a trace. */
export const namespaceChunk = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  namespaceId: string,
  after: After = FAR_FUTURE,
): Promise<NamespaceChunk> => {
  const values = [namespaceId, after.createdAt, after.id, CHUNK_ROWS, CHUNK_SIZE]
  const rows = await reads.rows<ChunkRow & Row>('namespace-chunk', namespaceChunkStatement, values)
  const last = rows.at(-1)
  if (!last) return { rows, size: 0, next: undefined }
  const isEnd = rows.length < CHUNK_ROWS && rows.length === Number(last.found)
  return {
    rows,
    size: rows.reduce((sum, { size }) => sum + size, 0),
    next: isEnd ? undefined : { createdAt: Number(last.created_at), id: last.id },
  }
}

/** Reads all traces of a namespace, chunk by chunk. A trace that exists during the whole reading comes exactly once. */
export async function* namespaceChunks(reads: Pick<Reads<ReadTables>, 'rows'>, namespaceId: string): Chunks<ListedRow> {
  let after: After | undefined
  do {
    const chunk: NamespaceChunk = await namespaceChunk(reads, namespaceId, after)
    yield chunk
    after = chunk.next
  } while (after)
}
