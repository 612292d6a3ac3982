import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { EntryList } from '../../contract/history.ts'
import { Cursor } from '../../contract/parameters.ts'
import type { HistoryServices } from '../history/services.ts'
import { timelineOfTrace } from '../history/timeline-routes.ts'
import { sendPage } from '../pages/page.ts'
import { traceTimelinePage } from '../pages/trace-timeline.ts'
import { coverageOf } from '../proof/coverage.ts'
import type { ProofServices } from '../proof/services.ts'
import { traceOfHistory } from './trace-history.ts'
import { TraceParams } from './trace-params.ts'

const Query = z.object({ cursor: Cursor.optional() })

type Services = HistoryServices & ProofServices & { readonly now: () => number }

/** `GET /@{slug}/{externalId}/-/timeline`: who did what to a session, with the proof of each entry, for members of its namespace. */
export const traceTimelineRoute = (app: FastifyInstance, services: Services): void => {
  app.get<{ Params: TraceParams; Querystring: z.infer<typeof Query> }>(
    '/@:slug/:externalId/-/timeline',
    { config: { auth: 'optional', htmlPage: true }, schema: { params: TraceParams, querystring: Query } },
    async (request, reply) => {
      const { caller, params, query } = request
      const { trace, named } = await traceOfHistory(services, params, caller)
      const coverage = await coverageOf(services, trace)
      const name = { externalId: named.externalId, namespace: named.slug }
      const texts = await timelineOfTrace(services, caller, name, { ...query, order: 'desc' })
      const { events, nextCursor } = JSON.parse(texts.join('')) as EntryList
      return sendPage(reply, traceTimelinePage({ trace: named, coverage, events, nextCursor, now: services.now() }))
    },
  )
}
