import type { FastifyInstance } from 'fastify'
import { history } from '../contract/history.ts'
import { withTimeout } from '../engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { route } from '../http/route.ts'
import { writeLocated } from '../trace/locate.ts'
import type { TraceServices } from '../trace/services.ts'
import type { ErasePast } from './erase-past.ts'

/** How long a request waits for an erasure, which goes on without it. */
const WAIT_MS = 30_000
const LATE = 'the past is still being erased, as the trace is large: ask again, and the answer comes when that is done'

/** The route that erases the past of a trace. */
export const eraseRoute = (app: FastifyInstance, service: TraceServices & { readonly erasePast: ErasePast }): void =>
  route(app, history, 'POST /v1/traces/{externalId}/history/erase', async (request) => {
    const context = contextOf(request)
    const name = { ...request.params, ...request.query }
    return writeLocated(service, requireCaller(request), name, ({ id, writer }) => {
      const transact = () => service.erasePast(id, writer, context)
      // It is not decided like other commands, but allowed, seen and answered like them.
      return withTimeout(
        WAIT_MS,
        LATE,
        service.write({ transact: transact as never }, id, { decide: () => [] }, context),
        'unknown',
      )
    }) as Promise<{ revision: number; erased: number }>
  })
