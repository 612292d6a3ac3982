import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { operations } from '../../contract/operations.ts'
import { type AttemptOptions, newAttempt } from './attempt.ts'
import { HttpError } from './http-error.ts'
import { mayReadMetrics } from './metrics-access.ts'
import { route } from './route.ts'
import type { HttpConfig } from './settings.ts'

/** The metrics of the service, for Prometheus. Durations are in seconds. */
export const newMetrics = () => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
  return {
    registry,
    requests: new Histogram({
      name: 'tracebook_http_request_seconds',
      help: 'HTTP requests by method, route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: seconds,
      registers,
    }),
    appendBatches: new Histogram({
      name: 'tracebook_log_append_batch_appends',
      help: 'Appends that shared one statement',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    }),
    appendSeconds: new Histogram({
      name: 'tracebook_log_append_seconds',
      help: 'Time of one statement that appends',
      buckets: seconds,
      registers,
    }),
    appendedEvents: new Counter({
      name: 'tracebook_log_events_total',
      help: 'Events appended by this process',
      registers,
    }),
    projectedEvents: new Counter({
      name: 'tracebook_projected_events_total',
      help: 'Events applied to the read models',
      labelNames: ['group'],
      registers,
    }),
    projectionSeconds: new Histogram({
      name: 'tracebook_projection_batch_seconds',
      help: 'Time of one transaction of the projections',
      labelNames: ['group'],
      buckets: seconds,
      registers,
    }),
    realtimePushes: new Counter({
      name: 'tracebook_realtime_pushes_total',
      help: 'Values sent to subscribers',
      registers,
    }),
    realtimeCoalesced: new Counter({
      name: 'tracebook_realtime_coalesced_total',
      help: 'Changes that were combined into the value of another change',
      registers,
    }),
    realtimeDropped: new Counter({
      name: 'tracebook_realtime_dropped_total',
      help: 'Connections that the service closed, by close code',
      labelNames: ['code'],
      registers,
    }),
    realtimeLag: new Histogram({
      name: 'tracebook_realtime_lag_seconds',
      help: 'Time from the arrival of a change to the sending of its value',
      buckets: seconds,
      registers,
    }),
    gauge: (name: string, help: string, value: () => number) => {
      const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(value()) })
    },
    /** Registers a gauge with one value for each value of a label. */
    gauges: (name: string, help: string, label: string, values: () => readonly (readonly [string, number])[]) => {
      const collect = () => {
        for (const [key, value] of values()) gauge.set({ [label]: key }, value)
      }
      const gauge: Gauge = new Gauge({ name, help, labelNames: [label], registers, collect })
    },
  }
}

export type Metrics = ReturnType<typeof newMetrics>

type MetricsOptions = { readonly metrics: Metrics; readonly logger: Pick<Logger, 'isLevelEnabled'> }

/** Every other method that Node can parse counts as one. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Measures every request by its method, route and status. What clients choose freely, such as paths, is no label: it would make new series for ever. */
export const installMetrics = (app: FastifyInstance, { metrics, logger }: MetricsOptions): void => {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    const seconds = reply.elapsedTime / 1_000
    const method = METHODS.has(request.method) ? request.method : 'other'
    metrics.requests.observe({ method, route, status: reply.statusCode }, seconds)
    if (logger.isLevelEnabled('debug')) {
      const { caller } = request
      const who = caller ? { userId: caller.userId, sessionId: caller.sessionId } : {}
      request.log.debug({ method: request.method, route, status: reply.statusCode, seconds, ...who }, 'answered')
    }
    done()
  })
}

const REFUSED =
  'Metrics are for programs on the machine of the service: set METRICS_TOKEN to read them from elsewhere, and send it as `Authorization: Bearer <token>`'

type MetricsRouteOptions = Pick<MetricsOptions, 'metrics'> & AttemptOptions & { readonly config: HttpConfig }

/** The route `/metrics`: all metrics in the text format of Prometheus. */
export const metricsRoute = (app: FastifyInstance, options: MetricsRouteOptions): void => {
  const { registry } = options.metrics
  route(app, operations, 'GET /metrics', async (request, reply) => {
    if (!mayReadMetrics(options.config, request)) {
      newAttempt(options, request.ip).fail()
      throw new HttpError('unauthorized', REFUSED)
    }
    return reply
      .type(registry.contentType)
      .header('cache-control', 'no-store')
      .send(await registry.metrics())
  })
}
