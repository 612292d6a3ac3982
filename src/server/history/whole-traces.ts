import { currentClient, withPermit } from '../../base/current-client.ts'
import { newPermits } from '../../base/permits.ts'
import { pause } from '../../base/waits.ts'
import type { Context } from '../../eventstore/engine/decide.ts'
import type { TransactResult } from '../../eventstore/engine/queued-command.ts'
import { ExplainedUnavailable, Unavailable } from '../../eventstore/engine/rejected.ts'
import { LogUnavailable, WrongRevision } from '../../eventstore/log/log.ts'

type Work<Answer> = (context: Context) => Promise<TransactResult<Answer>>

/** Work that reads and writes whole traces: erasing their past, and moving them. A node does one at a time. */
export type WholeTraces = {
  /**
   * Does work when its client has its turn. A request for the same work, by its key, while it has not ended waits for its result. The work goes on
   * when nobody waits any more.
   */
  once<Answer>(key: string, context: Context, work: Work<Answer>): Promise<TransactResult<Answer>>
  /**
   * Tries again for a minute while writers on other nodes come between.
   * @throws Unavailable, with `interrupted` as its message if they always did
   */
  untilDone<Answer>(interrupted: string, attempt: () => Promise<Answer>): Promise<Answer>
}

/** For how long work that writers on other nodes interrupt is tried again, and the pause before each try. */
const TRYING_MS = 60_000
const PAUSE_MS = 20

/** Work that has not ended, and the contexts of all requests that wait for it. */
type Running = { readonly result: Promise<TransactResult<unknown>>; readonly contexts: Context[] }

export const newWholeTraces = (): WholeTraces => {
  const running = new Map<string, Running>()
  const permits = newPermits({ capacity: 1, things: 'writes of whole traces', graceTicks: 0, waitTicks: Infinity })

  const once = <Answer>(key: string, context: Context, work: Work<Answer>): Promise<TransactResult<Answer>> => {
    const same = running.get(key)
    if (same) {
      same.contexts.push(context)
      return same.result as Promise<TransactResult<Answer>>
    }
    const contexts = [context]
    const shared: Context = {
      ...context,
      noteLastEvent: (last) => contexts.forEach(({ noteLastEvent }) => noteLastEvent?.(last)),
    }
    const result = withPermit(permits, currentClient(), () => work(shared)).finally(() => running.delete(key))
    running.set(key, { result, contexts })
    return result
  }

  const untilDone = async <Answer>(interrupted: string, attempt: () => Promise<Answer>): Promise<Answer> => {
    for (const until = performance.now() + TRYING_MS; ;) {
      try {
        return await attempt()
      } catch (error) {
        if (error instanceof LogUnavailable) throw new Unavailable(error.message, error.stored, error)
        if (!(error instanceof WrongRevision)) throw error
        if (performance.now() > until)
          throw new ExplainedUnavailable(`${interrupted}: try again when nothing writes to it`)
        await pause(PAUSE_MS)
      }
    }
  }

  return { once, untilDone }
}
