import { setImmediate as setImmediateNow } from 'node:timers'
import { setImmediate } from 'node:timers/promises'

/** For how many milliseconds long work goes on before other work of the event loop does. */
const WORKING_MS = 8

/** To be awaited again and again during long work: lets other work go on once this has gone on for long. */
export const newYielding = (): (() => Promise<void>) => {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < WORKING_MS) return
    await setImmediate()
    since = performance.now()
  }
}

/** Long work of many clients on one event loop. */
export type Turns = {
  /** To be awaited again and again: each turn of the loop goes to one client's work, the next one to another client's. */
  take(client: string): Promise<void> | undefined
}

export const newTurns = (): Turns => {
  const waiting = new Map<string, (() => void)[]>() // the client whose turn it is comes first
  let until = 0
  let isScheduled = false

  const goOn = () => {
    const [first] = waiting
    isScheduled = first !== undefined
    if (!first) return
    const [client, queue] = first
    waiting.delete(client)
    const go = queue.shift()!
    if (queue.length > 0) waiting.set(client, queue)
    setImmediateNow(goOn)
    until = performance.now() + WORKING_MS
    go()
  }

  const take = (client: string) => {
    if (performance.now() < until) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    const queue = waiting.get(client)
    if (queue) queue.push(resolve)
    else waiting.set(client, [resolve])
    if (!isScheduled) setImmediateNow(goOn)
    isScheduled = true
    return promise
  }

  return { take }
}
