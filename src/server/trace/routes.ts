import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DEFAULT_LIMIT } from '../../contract/parameters.ts'
import { TraceUpsert } from '../../contract/trace.ts'
import { type ShownTrace, type TraceList, traces } from '../../contract/traces.ts'
import { requireCaller } from '../http/caller.ts'
import { pickDefined } from '../http/check.ts'
import { type JsonTexts, jsonText, jsonTexts } from '../http/json-text.ts'
import { fitting } from '../http/list-page.ts'
import { arrayTexts, okUnlessKnown } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { type FieldsOfUpsert, patch } from './decide.ts'
import { type Listed, type ListPlace, cursorAfterTrace, listTraces, listPlaceOf } from './lists.ts'
import { type TraceName, locateToRead, writeLocated } from './locate.ts'
import { shownRow, withModelName } from './model-names.ts'
import { momentOf } from './moment.ts'
import type { ListedRow } from './rows.ts'
import { detailText, summaryText } from './views.ts'
import type { TraceServices } from './services.ts'
import { removeTrace, upsertTrace, writeTrace, writtenText } from './upsert.ts'

const fieldNames = Object.keys(TraceUpsert.shape) as (keyof TraceUpsert)[]

/** The known fields of a body. Unknown ones are left out. */
const givenFields = (body: TraceUpsert): FieldsOfUpsert => pickDefined(body, fieldNames)

/** Traces: create, read, change, delete, list. */
export const traceRoutes = (app: FastifyInstance, service: TraceServices): void => {
  const { reads, models } = service

  type Put = FastifyRequest & {
    readonly query: { readonly namespace?: string | undefined; readonly unlessDeleted?: boolean | undefined }
  }
  const put = (request: Put, externalId: string, body: TraceUpsert, expected?: bigint) => {
    const { namespace, unlessDeleted = false } = request.query
    return upsertTrace(service, request, {
      name: { externalId, namespace },
      given: givenFields(body),
      unlessDeleted,
      expected,
    })
  }

  route(app, traces, 'POST /v1/traces', (request) => put(request, request.body.externalId, request.body))

  route(app, traces, 'PUT /v1/traces/{externalId}', (request) =>
    put(request, request.params.externalId, request.body, request.query.ifRevision),
  )

  route(app, traces, 'PATCH /v1/traces/{externalId}', async (request) => {
    const caller = requireCaller(request)
    const fields = await withModelName(models, givenFields(request.body))
    const { ifRevision, ...query } = request.query
    const name: TraceName = { ...request.params, ...query }
    const written = await writeLocated(service, caller, name, ({ id, writer }) =>
      writeTrace(service, request, id, patch(writer, fields), ifRevision),
    )
    return writtenText(service, caller, written)
  })

  route(app, traces, 'DELETE /v1/traces/{externalId}', async (request) => {
    const name: TraceName = { ...request.params, ...request.query }
    const { revision } = await removeTrace(service, request, name)
    return { deleted: true as const, revision }
  })

  route(app, traces, 'GET /v1/traces/{externalId}', async (request, reply) => {
    const { params, query, caller } = request
    const moment = momentOf(query)
    if (moment) return service.past.trace(request, moment)
    const { trace } = await locateToRead(reads, { ...params, ...query }, caller)
    const shown = { trace: detailText(shownRow(await models.known(), trace)), revision: undefined }
    return okUnlessKnown(reply, jsonText<ShownTrace>(shown))
  })

  route(app, traces, 'GET /v1/traces', async (request) => {
    const { namespace } = requireCaller(request)
    const { limit = DEFAULT_LIMIT } = request.query
    const place = listPlaceOf(request.query)
    if (!namespace || limit === 0) return { traces: [] }
    return listPage(service, { namespaceId: namespace.id, rootsOnly: request.query.children === false, limit, place })
  })
}

type PageServices = Pick<TraceServices, 'reads' | 'models'>
type AskedPage = Listed & { namespaceId: string; limit: number; place: ListPlace }

/** A page of the traces of a namespace, as a list of texts. */
export const listPage = async (service: PageServices, asked: AskedPage): Promise<JsonTexts<TraceList>> => {
  const { limit, place } = asked
  const rows = await listTraces(service.reads, { ...asked, limit: limit + 1 })
  return pageTexts(service, rows, { limit, cursorOf: (row) => cursorAfterTrace(place.sort, row) })
}

type PageOptions = { readonly limit: number; readonly cursorOf: (row: ListedRow) => string }

/** A page of summaries, as a list of texts. `rows` may have one row more than the page. Leaves out traces in quarantine. */
export const pageTexts = async (
  { reads, models }: PageServices,
  rows: readonly ListedRow[],
  { limit, cursorOf }: PageOptions,
): Promise<JsonTexts<TraceList>> => {
  const known = await models.known()
  const texts = rows.map((row) => (reads.isNotQuarantined(`trace-${row.id}`) ? summaryText(shownRow(known, row)) : ''))
  const sizes = rows.map(({ size }, i) => Math.max(size, Buffer.byteLength(texts[i]!)))
  const count = fitting(sizes, limit)
  return jsonTexts<TraceList>({
    traces: arrayTexts(texts.slice(0, count).filter((text) => text !== '')),
    nextCursor: rows.length > count ? `"${cursorOf(rows[count - 1]!)}"` : undefined,
  })
}
