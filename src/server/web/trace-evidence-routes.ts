import type { FastifyInstance } from 'fastify'
import { metadataOf } from '../../eventstore/log/metadata.ts'
import { attachment, fileNameOf } from '../export/attachment.ts'
import { type PresentTraceRow, firstRevision } from '../history/locate.ts'
import type { HistoryServices } from '../history/services.ts'
import { eventAt } from '../history/single-events.ts'
import { type BegunAnew, evidencePage } from '../pages/trace-evidence.ts'
import { sendPage } from '../pages/page.ts'
import { coverageOf } from '../proof/coverage.ts'
import { sendEvidence } from '../proof/evidence-file.ts'
import type { ProofServices } from '../proof/services.ts'
import { traceOfHistory } from './trace-history.ts'
import { TraceParams } from './trace-params.ts'

type Services = HistoryServices & ProofServices & { readonly now: () => number }

const EXTENSION = 'evidence.json'

/** What a trace has begun anew with: the erasure of its past, or a move; undefined if it has not. */
const begunAnew = async (services: Services, trace: PresentTraceRow): Promise<BegunAnew | undefined> => {
  if (trace.erased === null) return undefined
  const event = await eventAt(services, `trace-${trace.id}`, firstRevision(trace))
  const { movedFrom } = JSON.parse(event.data) as { readonly movedFrom?: { readonly slug: string } }
  return { at: metadataOf(event).at, movedFrom: movedFrom?.slug }
}

/** `GET /@{slug}/{externalId}/-/evidence` and `…/-/evidence.json`: what evidence of a session proves, and the file, for members of its namespace. */
export const traceEvidenceRoutes = (app: FastifyInstance, services: Services): void => {
  const options = { config: { auth: 'optional', htmlPage: true }, schema: { params: TraceParams } } as const

  app.get<{ Params: TraceParams }>('/@:slug/:externalId/-/evidence', options, async ({ caller, params }, reply) => {
    const { trace, named } = await traceOfHistory(services, params, caller)
    const [coverage, anew] = await Promise.all([coverageOf(services, trace), begunAnew(services, trace)])
    const fileName = `${fileNameOf(named.title)}.${EXTENSION}`
    return sendPage(
      reply,
      evidencePage({ trace: named, coverage, begunAnew: anew, fileName, service: app.printedAddress() }),
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
