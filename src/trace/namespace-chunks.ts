import type { ReadTables } from '../../projections/tables.ts'
import type { Reads, Row } from '../engine/reads.ts'
import type { Chunk, Chunks } from '../http/long-list.ts'
import { type After, FAR_FUTURE, summaryColumns, summaryTables, summaryWeight } from './queries.ts'
import type { ListedRow } from './rows.ts'

/** About how many characters a chunk holds, unless a row alone holds more. */
export const CHUNK_WEIGHT = 512 * 1024
const CHUNK_ROWS = 1_000

type ChunkRow = ListedRow & { position: bigint; found: bigint }

/** `next`: where the list goes on; undefined when this was its end. */
export type NamespaceChunk = Chunk<ListedRow> & { readonly next: After | undefined }

// Rows are weighed before they are sent: titles may be long, and compressed where they are stored.
export const namespaceChunkStatement = `
  select p.* from (
    select r.*, sum(r.weight) over (order by r.created_at desc, r.id desc rows unbounded preceding) - r.weight as before,
      count(*) over () as found
    from (
      select ${summaryColumns}, (select position from reached) as position,
        500 + ${summaryWeight} as weight
      from (
        select id, created_at from feed where namespace_id = $1 and (created_at, id) < ($2, $3)
        order by created_at desc, id desc limit $4
      ) f ${summaryTables}
    ) r
  ) p where p.before < $5 order by p.created_at desc, p.id desc`

/** Traces of a namespace, whatever their visibility, newest first, from the newest or from one on. */
export const namespaceChunk = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  namespaceId: string,
  after: After = FAR_FUTURE,
): Promise<NamespaceChunk> => {
  const values = [namespaceId, after.createdAt, after.id, CHUNK_ROWS, CHUNK_WEIGHT]
  const rows = await reads.rows<ChunkRow & Row>('namespace-chunk', namespaceChunkStatement, values)
  const last = rows.at(-1)
  if (!last) return { rows, weight: 0, next: undefined }
  const isEnd = rows.length < CHUNK_ROWS && rows.length === Number(last.found)
  return {
    rows,
    weight: rows.reduce((sum, { weight }) => sum + weight, 0),
    position: last.position,
    next: isEnd ? undefined : { createdAt: Number(last.created_at), id: last.id },
  }
}

/** All traces of a namespace, chunk by chunk: what is there all the time comes exactly once. */
export async function* namespaceChunks(reads: Pick<Reads<ReadTables>, 'rows'>, namespaceId: string): Chunks<ListedRow> {
  let after: After | undefined
  do {
    const chunk: NamespaceChunk = await namespaceChunk(reads, namespaceId, after)
    yield chunk
    after = chunk.next
  } while (after)
}
