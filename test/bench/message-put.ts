import { randomUUID } from 'node:crypto'
import { requestBytes, requestRate } from './http.ts'
import { type Setting, between, bodies } from './measure.ts'
import { bareCommits } from './yardsticks.ts'

/** The `n`th message of a session: later ones come behind earlier ones, as agents write them. */
const bodyOf = (n: number): string => bodies[n % bodies.length]!.replace(/"order":\d+/, `"order":${n}`)

/** Messages one by one over 32 connections, each to the trace that `traceOf` names, beside a commit for each. */
export const put =
  (traceOf: (worker: number) => string) =>
  async ({ world, ms }: Setting) =>
    between(
      () => bareCommits(world.databaseUrl, bodies, ms / 2),
      async () => {
        const { authorization } = await world.signIn('message-put')
        const run = randomUUID()
        for (let i = 0; i < 32; i++) await world.call('PUT', `/v1/traces/${run}-${traceOf(i)}`, authorization, {})
        const counts = new Map<string, number>()
        return requestRate(world.url, 32, ms, (i) => {
          const trace = traceOf(i)
          const n = counts.get(trace) ?? 0
          counts.set(trace, n + 1)
          return requestBytes('PUT', `/v1/traces/${run}-${trace}/messages/m-${n}`, { authorization }, bodyOf(n))
        })
      },
    )
