import type { ReadTables } from '../../projections/tables.ts'
import type { Reads, Row } from '../engine/reads.ts'
import type { Chunks } from '../http/long-list.ts'
import { uuids } from '../postgres/arrays.ts'
import { uuidText } from '../base/uuid.ts'
import type { Sort } from '../contract/traces.ts'
import { orderValues, orderedIds } from './lists.ts'
import { CHUNK_SIZE } from './namespace-chunks.ts'
import { summaryColumns, summaryTables, summarySize } from './queries.ts'
import type { ListedRow } from './rows.ts'

type TraceReads = Pick<Reads<ReadTables>, 'rows'>

const ID_BYTES = 16
/** The memory for an id while the ids are read. */
const ID_SIZE = 4 * ID_BYTES
const CHUNK_ROWS = 1_000

const countStatement = 'select traces from sizes where namespace_id = $1'

/** The approximate number of characters of a chunk of such a list, including the ids of the list. */
export const sortedSize = async (reads: TraceReads, namespaceId: string): Promise<number> => {
  const [row] = await reads.rows<{ traces: bigint } & Row>('namespace-count', countStatement, [namespaceId])
  return CHUNK_SIZE + ID_SIZE * Number(row?.traces ?? 0n)
}

// `string_agg` joins the ids in the order of the subquery.
export const idsStatement = (sort: Sort): string => `
  select string_agg(uuid_send(f.id), '') as ids from (${orderedIds(sort)}) f`

export const sortedChunkStatement = `
  select p.* from (
    select r.*, sum(r.size) over (order by r.nth rows unbounded preceding) - r.size as before, count(*) over () as found
    from (
      select ${summaryColumns}, (select position from reached) as position, f.nth, 500 + ${summarySize} as size
      from unnest($1::uuid[]) with ordinality f (id, nth) ${summaryTables}
    ) r
  ) p where p.before < $2 order by p.nth`

type ChunkRow = ListedRow & { position: bigint; nth: bigint; found: bigint }

/**
 * All traces of a namespace in an order that may change while they are read: the ids are read first and kept in memory, so that a
 * trace that exists all the time comes exactly once. A trace is shown as it is when its chunk is read.
 */
export async function* sortedChunks(reads: TraceReads, namespaceId: string, sort: Sort): Chunks<ListedRow> {
  const values = orderValues(namespaceId, { sort, after: undefined })
  const [order] = await reads.rows<{ ids: Buffer | null } & Row>(`traces-ids-${sort}`, idsStatement(sort), values)
  const ids = order!.ids ?? Buffer.alloc(0)
  const idAt = (index: number) => uuidText(ids.subarray(index * ID_BYTES, (index + 1) * ID_BYTES))
  const count = ids.length / ID_BYTES
  for (let start = 0; start < count;) {
    const asked = Array.from({ length: Math.min(CHUNK_ROWS, count - start) }, (_, i) => idAt(start + i))
    const rows = await reads.rows<ChunkRow & Row>('sorted-chunk', sortedChunkStatement, [uuids(asked), CHUNK_SIZE])
    const last = rows.at(-1)
    start += last && rows.length < Number(last.found) ? Number(last.nth) : asked.length
    const size = rows.reduce((sum, row) => sum + row.size, ids.length)
    if (last) yield { rows, size, position: last.position }
  }
}
