import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { operations } from '../contract/operations.ts'
import type { Metrics } from '../metrics.ts'
import { route } from './route.ts'

export type MetricsOptions = { readonly metrics: Metrics; readonly logger: Pick<Logger, 'isLevelEnabled'> }

/** Measures every request by its route; paths would be too many. */
export const installMetrics = (app: FastifyInstance, { metrics, logger }: MetricsOptions): void => {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    const seconds = reply.elapsedTime / 1_000
    metrics.requests.observe({ method: request.method, route, status: reply.statusCode }, seconds)
    if (logger.isLevelEnabled('debug')) {
      const { caller } = request
      const who = caller ? { userId: caller.userId, sessionId: caller.sessionId } : {}
      request.log.debug({ method: request.method, route, status: reply.statusCode, seconds, ...who }, 'answered')
    }
  })
}

/** The route `/metrics`: all metrics in the text format of Prometheus. */
export const metricsRoute = (app: FastifyInstance, { metrics }: Pick<MetricsOptions, 'metrics'>): void => {
  route(app, operations, 'GET /metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  )
}
