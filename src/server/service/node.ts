import type { FastifyInstance } from 'fastify'
import { ifLate, pause } from '../../base/waits.ts'
import { isOutage } from '../../eventstore/engine/retryable-errors.ts'
import { buildApp, buildReopening } from './app.ts'
import type { Front } from './front.ts'
import { type OpenOptions, openService } from './open.ts'
import type { Service } from './service.ts'

/** A service with its routes. */
type Serving = {
  readonly app: FastifyInstance
  readonly service: Service
  /** Answers the requests in flight, for at most `drainMs`, and closes the service. */
  close(drainMs: number): Promise<void>
}

/**
 * A node: a service that is closed and opened again, from the start, when its log is another one. So nothing that was derived from the log in
 * memory outlives the log that it came from.
 */
export type Node = {
  /** What answers now: the routes of the service, or, while it is opened again, 503. */
  app(): FastifyInstance
  /** The service, or the one before while it is opened again. */
  service(): Service
  /** `fast` answers pending requests first; `immediate` closes nothing but connections. */
  close(mode: 'fast' | 'immediate'): Promise<void>
}

export type NodeOptions = OpenOptions & {
  /** Brings connections to the app that answers. */
  readonly front: Pick<Front, 'drain'> & { use(app: FastifyInstance): void }
}

/** How long requests in flight may take when the node stops: a client may read a long list slowly. */
const STOP_DRAIN_MS = 4_000
/** And when its log has changed: then only answers that had begun are left. */
const REOPEN_DRAIN_MS = 500
const RETRY_MS = 1_000
/** How long a stop waits for a service that is being opened again. */
const OPENING_MS = 3_000

const openServing = async (options: NodeOptions): Promise<Serving> => {
  const { service, close: closeService } = await openService(options)
  try {
    const app = await buildApp(service)
    await app.ready()
    const end = async (drainMs: number) => {
      await Promise.all([app.close(), options.front.drain(app.server, drainMs)])
      await closeService()
    }
    let ended: Promise<void> | undefined
    const close = (drainMs: number) => (ended ??= end(drainMs))
    return { app, service, close }
  } catch (error) {
    await closeService()
    throw error
  }
}

/** Resolves when one of the signals aborts. */
const aborted = (signals: readonly AbortSignal[]) =>
  new Promise<void>((resolve) => {
    const any = AbortSignal.any([...signals])
    if (any.aborted) resolve()
    else any.addEventListener('abort', () => resolve())
  })

/** Opens the service and its routes, and does so again whenever its log has changed. If it rejects, nothing is left running. */
export const openNode = async (given: NodeOptions): Promise<Node> => {
  const options = { signed: {}, ...given }
  const { config, logger, front, now = Date.now } = options
  const stopping = new AbortController()
  const { signal } = stopping
  let serving = await openServing(options)
  let { app } = serving
  let problem = ''

  const use = (next: FastifyInstance) => {
    app = next
    front.use(next)
  }

  const opened = async (): Promise<Serving | undefined> => {
    for (; !signal.aborted; await pause(RETRY_MS, signal))
      try {
        return await openServing({ ...options, isReopened: true })
      } catch (error) {
        const reason = isOutage(error) ? 'the database cannot be reached' : (error as Error).message
        if (reason !== problem) logger.error({ err: error }, 'the service cannot be opened again yet')
        problem = reason
      }
    return undefined
  }

  const reopen = async () => {
    const before = serving
    const meanwhile = await buildReopening({ config, logger, now, problem: () => problem })
    use(meanwhile)
    await before.close(REOPEN_DRAIN_MS)
    const next = await opened()
    if (next) {
      serving = next
      problem = ''
      use(next.app)
      logger.info({}, 'the service is open again')
    }
    await Promise.all([meanwhile.close(), front.drain(meanwhile.server, REOPEN_DRAIN_MS)])
  }

  const run = async () => {
    for (;;) {
      await aborted([signal, serving.service.over])
      if (signal.aborted) return
      await reopen()
    }
  }

  use(app)
  const running = run()

  const close = async (mode: 'fast' | 'immediate') => {
    stopping.abort()
    if (mode === 'immediate') return app.server.closeAllConnections()
    const { promise: late, resolve } = Promise.withResolvers<void>()
    await ifLate(OPENING_MS, resolve, Promise.race([running, late]))
    await serving.close(STOP_DRAIN_MS)
  }

  return { app: () => app, service: () => serving.service, close }
}
