import type { FastifyInstance } from 'fastify'
import { history } from '../../contract/history.ts'
import { withTimeout } from '../../eventstore/engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { route } from '../http/route.ts'
import { writeLocated } from '../trace/locate.ts'
import type { TraceServices } from '../trace/services.ts'
import type { ErasePast } from './erase-past.ts'

/** How long a request waits for an erasure. The erasure continues even if nothing waits for it. */
const WAIT_MS = 30_000
const LATE = 'the past of this large trace is still being erased: send the same request again to wait for the result'

/** The route that erases the past of a trace. */
export const eraseRoute = (app: FastifyInstance, service: TraceServices & { readonly erasePast: ErasePast }): void =>
  route(app, history, 'POST /v1/traces/{externalId}/history/erase', async (request) => {
    const context = contextOf(request)
    const name = { ...request.params, ...request.query }
    return writeLocated(service, requireCaller(request), name, ({ id, writer }) => {
      const transact = () => service.erasePast(id, writer, context)
      // Through `write`, so that it is refused, made visible and answered like a command, although it is not decided like one.
      return withTimeout(
        WAIT_MS,
        LATE,
        service.write({ transact: transact as never }, id, { decide: () => [] }, context),
        'unknown',
      )
    }) as Promise<{ revision: number; erased: number }>
  })
