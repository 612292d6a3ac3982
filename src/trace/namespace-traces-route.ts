import type { FastifyInstance, FastifyReply } from 'fastify'
import { notFound } from '../http/http-error.ts'
import { DEFAULT_LIMIT } from '../contract/parameters.ts'
import { type Sort, traces } from '../contract/traces.ts'
import { route } from '../http/route.ts'
import { namespaceId } from '../base/ids.ts'
import type { Reader } from '../http/long-list.ts'
import { rowWithModelName } from './model-names.ts'
import { CHUNK_SIZE, namespaceChunk, namespaceChunks } from './namespace-chunks.ts'
import { listTraces, listPlaceOf, cursorAfterTrace } from './lists.ts'
import { checkRight } from './right-to-read.ts'
import { listPage, pageTexts } from './routes.ts'
import { sortedChunks, sortedSize } from './sorted-chunks.ts'
import { summaryText } from './views.ts'
import type { TraceServices } from './services.ts'

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
    if (limit === 0) return { traces: [] }
    if (isMember && limit === undefined && !place.after)
      return listAll(reply, { caller, namespaceId: found.id }, place.sort)
    return listPage(service, { namespaceId: found.id, publicOnly: !isMember, limit: limit ?? DEFAULT_LIMIT, place })
  })

  /** The whole list if it is short; otherwise its chunks. */
  const beginning = async (namespaceId: string, sort: Sort) => {
    if (sort === 'createdAt') {
      const first = await namespaceChunk(reads, namespaceId)
      return first.next ? { chunkSize: CHUNK_SIZE, chunks: () => namespaceChunks(reads, namespaceId) } : first.rows
    }
    const page = { namespaceId, publicOnly: false, limit: QUICK_ROWS + 1, place: { sort, after: undefined } }
    const rows = await listTraces(reads, page)
    const isShort = rows.length <= QUICK_ROWS && rows.reduce((sum, { size }) => sum + size, 0) < CHUNK_SIZE
    if (isShort) return rows
    return { chunkSize: await sortedSize(reads, namespaceId), chunks: () => sortedChunks(reads, namespaceId, sort) }
  }

  const listAll = async (
    reply: FastifyReply,
    { caller, namespaceId }: Pick<Reader, 'caller' | 'namespaceId'>,
    sort: Sort,
  ) => {
    const list = await beginning(namespaceId, sort)
    if (!('chunks' in list))
      return pageTexts(service, list, { limit: list.length, cursorOf: (row) => cursorAfterTrace(sort, row) })
    const reader = { caller, namespaceId, traceId: undefined, isMember: true }
    return longLists.send(reply, {
      ...list,
      reader,
      check: () => checkRight(reads, reader),
      before: '{"ok":true,"data":{"traces":[',
      toText: (row) =>
        reads.isNotQuarantined(`trace-${row.id}`) ? summaryText(rowWithModelName(models, row)) : undefined,
      traceIdOf: ({ id }) => id,
      after: () => ']}}',
    })
  }
}
