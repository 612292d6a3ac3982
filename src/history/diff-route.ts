import type { FastifyInstance } from 'fastify'
import { type Difference, history } from '../contract/history.ts'
import { invalid } from '../http/http-error.ts'
import { jsonText } from '../http/json-text.ts'
import { route } from '../http/route.ts'
import { messagesDifference, traceDifference } from './diff.ts'
import { traceWithTimeline } from './locate.ts'
import { listOfHistory } from './open-past.ts'
import { pastTrace, revisionAt } from './past.ts'
import type { HistoryServices } from './services.ts'

/** The route for the difference of a trace and its messages between two revisions. */
export const diffRoute = (app: FastifyInstance, services: HistoryServices): void => {
  route(app, history, 'GET /v1/traces/{externalId}/diff', async ({ params, query, caller }, reply) => {
    const { from } = query
    if (query.to !== undefined && from > query.to)
      throw invalid('from', `must not be greater than \`to\`, which is ${query.to}`)
    const { externalId } = params
    const present = await traceWithTimeline(services, { externalId, namespace: query.namespace }, caller)
    const to = query.to ?? present.revision
    const [before, after] = await Promise.all(
      [from, to].map(async (revision) =>
        pastTrace(services, present, await revisionAt(services, present, { revision })),
      ),
    )
    const head = jsonText<Omit<Difference, 'messages'>>({
      from: String(from),
      to: String(to),
      patch: JSON.stringify(traceDifference(before!, after!)),
    })
    return services.longLists.send(reply, {
      ...listOfHistory(services, present, caller),
      chunks: () => messagesDifference(services, before!, after!),
      before: `{"ok":true,"data":${head.slice(0, -1)},"messages":{`,
      toText: (row) => row,
      after: () => '}}}',
    })
  })
}
