import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ReadTables } from '../../tables/main.ts'
import { namespaceId } from '../../base/ids.ts'
import { uuidText } from '../../base/uuid.ts'
import { DEFAULT_LIMIT } from '../../contract/parameters.ts'
import { type Sort, traces } from '../../contract/traces.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { notFound } from '../http/http-error.ts'
import type { Chunks, Reader } from '../http/long-list.ts'
import { route } from '../http/route.ts'
import { uuids } from '../../eventstore/postgres/arrays.ts'
import { cursorAfterTrace, listedColumns, listName, listPlaceOf, listTraces, orderedIds, orderValues } from './lists.ts'
import { shownRow } from './model-names.ts'
import { CHUNK_SIZE, ROW_CHARACTERS, namespaceChunk, namespaceChunks } from './namespace-chunks.ts'
import { summarySize, summaryTables } from './queries.ts'
import { checkRight } from './right-to-read.ts'
import { listPage, pageTexts } from './routes.ts'
import type { ListedRow } from './rows.ts'
import type { TraceServices } from './services.ts'
import { summaryText } from './views.ts'

type TraceReads = Pick<Reads<ReadTables>, 'rows'>

const ID_BYTES = 16
/** The memory for an id while the ids are read. */
const ID_SIZE = 4 * ID_BYTES
const CHUNK_ROWS = 1_000

const countStatement = 'select traces from sizes where namespace_id = $1'

/** The approximate number of characters of a chunk of such a list, including the ids of the list. */
const sortedSize = async (reads: TraceReads, namespaceId: string): Promise<number> => {
  const [row] = await reads.rows<{ traces: bigint } & Row>('namespace-count', countStatement, [namespaceId])
  return CHUNK_SIZE + ID_SIZE * Number(row?.traces ?? 0n)
}

// `string_agg` joins the ids in the order of the subquery.
const idsStatement = (sort: Sort, rootsOnly: boolean): string => `
  select string_agg(uuid_send(f.id), '') as ids from (${orderedIds(sort, { rootsOnly })}) f`

const sortedChunkStatement = (rootsOnly: boolean): string => `
  select p.* from (
    select r.*, sum(r.size) over (order by r.nth rows unbounded preceding) - r.size as before, count(*) over () as found
    from (
      select ${listedColumns({ rootsOnly })}, f.nth, ${ROW_CHARACTERS} + ${summarySize} as size
      from unnest($1::uuid[]) with ordinality f (id, nth) ${summaryTables}
    ) r
  ) p where p.before < $2 order by p.nth`

/** The whole list of a member: its order, and whether it has roots only. */
type AskedList = { readonly sort: Sort; readonly rootsOnly: boolean }

type ChunkRow = ListedRow & { nth: bigint; found: bigint }

/**
 * All traces of a namespace in an order that may change while they are read: the ids are read first and kept in memory, so that a
 * trace that exists all the time comes exactly once. A trace is shown as it is when its chunk is read.
 */
async function* sortedChunks(
  reads: TraceReads,
  namespaceId: string,
  { sort, rootsOnly }: AskedList,
): Chunks<ListedRow> {
  const values = orderValues(namespaceId, { sort, after: undefined })
  const name = `traces-ids-${listName({ rootsOnly })}-${sort}`
  const [order] = await reads.rows<{ ids: Buffer | null } & Row>(name, idsStatement(sort, rootsOnly), values)
  const ids = order!.ids ?? Buffer.alloc(0)
  const idAt = (index: number) => uuidText(ids.subarray(index * ID_BYTES, (index + 1) * ID_BYTES))
  const count = ids.length / ID_BYTES
  for (let start = 0; start < count;) {
    const asked = Array.from({ length: Math.min(CHUNK_ROWS, count - start) }, (_, i) => idAt(start + i))
    const chunk = [uuids(asked), CHUNK_SIZE]
    const chunkName = `sorted-chunk-${listName({ rootsOnly })}`
    const rows = await reads.rows<ChunkRow & Row>(chunkName, sortedChunkStatement(rootsOnly), chunk)
    const last = rows.at(-1)
    start += last && rows.length < Number(last.found) ? Number(last.nth) : asked.length
    const size = rows.reduce((sum, row) => sum + row.size, ids.length)
    if (last) yield { rows, size }
  }
}

const roleStatement = `
  select n.id, m.role from namespaces n left join members m on m.namespace_id = n.id and m.user_id = $2 where n.id = $1`

/** A sorted list of at most this length is answered at once, a longer one in chunks. */
const QUICK_ROWS = 200

/** The traces of a namespace: for members all of them, for others the public ones. */
export const namespaceTracesRoute = (app: FastifyInstance, service: TraceServices): void => {
  const { reads, models, longLists } = service
  route(app, traces, 'GET /v1/namespaces/{slug}/traces', async ({ params, query, caller }, reply) => {
    const place = listPlaceOf(query)
    const { limit } = query
    const values = [namespaceId(params.slug.trim().toLowerCase()), caller?.userId ?? null]
    const [found] = await reads.rows<{ id: string; role: string | null }>('namespace-role', roleStatement, values)
    if (!found) throw notFound()
    reads.assertNotQuarantined(`namespace-${found.id}`)
    const isMember = found.role !== null
    const rootsOnly = query.children === false
    if (limit === 0) return { traces: [] }
    if (isMember && limit === undefined && !place.after)
      return listAll(reply, { caller, namespaceId: found.id }, { sort: place.sort, rootsOnly })
    const listed = { publicOnly: !isMember, rootsOnly }
    return listPage(service, { namespaceId: found.id, ...listed, limit: limit ?? DEFAULT_LIMIT, place })
  })

  /** The whole list if it is short; otherwise its chunks. */
  const beginning = async (namespaceId: string, list: AskedList) => {
    const { sort, rootsOnly } = list
    if (sort === 'createdAt' && !rootsOnly) {
      const first = await namespaceChunk(reads, namespaceId)
      return first.next ? { chunkSize: CHUNK_SIZE, chunks: () => namespaceChunks(reads, namespaceId) } : first.rows
    }
    const page = { namespaceId, rootsOnly, limit: QUICK_ROWS + 1, place: { sort, after: undefined } }
    const rows = await listTraces(reads, page)
    const isShort = rows.length <= QUICK_ROWS && rows.reduce((sum, { size }) => sum + size, 0) < CHUNK_SIZE
    if (isShort) return rows
    return { chunkSize: await sortedSize(reads, namespaceId), chunks: () => sortedChunks(reads, namespaceId, list) }
  }

  const listAll = async (
    reply: FastifyReply,
    { caller, namespaceId }: Pick<Reader, 'caller' | 'namespaceId'>,
    asked: AskedList,
  ) => {
    const list = await beginning(namespaceId, asked)
    if (!('chunks' in list))
      return pageTexts(service, list, { limit: list.length, cursorOf: (row) => cursorAfterTrace(asked.sort, row) })
    const reader = { caller, namespaceId, traceId: undefined, isMember: true }
    const known = await models.known()
    return longLists.send(reply, {
      ...list,
      reader,
      check: () => checkRight(reads, reader),
      before: '{"ok":true,"data":{"traces":[',
      toText: (row) => (reads.isNotQuarantined(`trace-${row.id}`) ? summaryText(shownRow(known, row)) : undefined),
      after: () => ']}}',
    })
  }
}
