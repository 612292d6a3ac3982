import type { FastifyInstance } from 'fastify'
import { metadataOf } from '../../eventstore/log/metadata.ts'
import { attachment, fileNameOf } from '../export/attachment.ts'
import { type PresentTraceRow, firstRevision } from '../history/locate.ts'
import type { HistoryServices } from '../history/services.ts'
import { eventAt } from '../history/single-events.ts'
import { evidencePage } from '../pages/trace-evidence.ts'
import { sendPage } from '../pages/page.ts'
import { coverageOf } from '../proof/coverage.ts'
import { sendEvidence } from '../proof/evidence-file.ts'
import type { ProofServices } from '../proof/services.ts'
import { traceOfHistory } from './trace-history.ts'
import { TraceParams } from './trace-params.ts'

type Services = HistoryServices & ProofServices & { readonly now: () => number }

const EXTENSION = 'evidence.json'

/** When the past of a trace was erased, in milliseconds since 1970; undefined if it never was. */
const erasedAt = async (services: Services, trace: PresentTraceRow): Promise<number | undefined> =>
  trace.erased === null ? undefined : metadataOf(await eventAt(services, `trace-${trace.id}`, firstRevision(trace))).at

/** `GET /@{slug}/{externalId}/-/evidence` and `…/-/evidence.json`: what evidence of a session proves, and the file, for members of its namespace. */
export const traceEvidenceRoutes = (app: FastifyInstance, services: Services): void => {
  const options = { config: { auth: 'optional', htmlPage: true }, schema: { params: TraceParams } } as const

  app.get<{ Params: TraceParams }>('/@:slug/:externalId/-/evidence', options, async ({ caller, params }, reply) => {
    const { trace, named } = await traceOfHistory(services, params, caller)
    const [coverage, erased] = await Promise.all([coverageOf(services, trace), erasedAt(services, trace)])
    const fileName = `${fileNameOf(named.title)}.${EXTENSION}`
    return sendPage(
      reply,
      evidencePage({ trace: named, coverage, erasedAt: erased, fileName, service: app.printedAddress() }),
    )
  })

  app.get<{ Params: TraceParams }>(
    '/@:slug/:externalId/-/evidence.json',
    options,
    async ({ caller, params }, reply) => {
      const { trace, named, agentId } = await traceOfHistory(services, params, caller)
      const headers = { 'content-disposition': attachment(named.title, EXTENSION), 'cache-control': 'no-store' }
      const session = { namespace: named.slug, traceId: trace.id, externalId: named.externalId, agentId }
      return sendEvidence(services, reply, { trace, caller, session, headers })
    },
  )
}
