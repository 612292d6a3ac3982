import { setImmediate } from 'node:timers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Client } from './permits.ts'

/** How many milliseconds long work may take before other work of the event loop gets a turn. */
const WORKING_MS = 8

/** To be awaited repeatedly during long work: gives other work of the event loop a turn every few milliseconds. */
export const newYielding = (): (() => Promise<void>) => {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < WORKING_MS) return
    await nextTurn()
    since = performance.now()
  }
}

/** Long work of many clients on one event loop. */
export type Turns = {
  /**
   * To be awaited repeatedly: each turn of the event loop goes to the work of one client, the next to another client's. Nets
   * take turns, and in each net its clients. Undefined: go on, because the turn that has begun is not over. Work that is running anyway may
   * use it up, whoever's turn it is; its next call after the turn waits.
   */
  take(client: Client): Promise<void> | undefined
}

type Line = (() => void)[]

/** Takes the entry that has waited longest, and moves it to the end. */
const rotate = <T>(lines: Map<string, T>): [string, T] => {
  const [key, line] = lines.entries().next().value!
  lines.delete(key)
  lines.set(key, line)
  return [key, line]
}

export const newTurns = (): Turns => {
  const nets = new Map<string, Map<string, Line>>() // whose turn it is comes first
  let until = 0
  let isScheduled = false

  /** Resumes the waiting work of a line, one after the other, until the turn is over. */
  const serve = (line: Line, over: () => void) => {
    line.shift()!()
    queueMicrotask(() => {
      if (line.length === 0) over()
      else if (performance.now() < until) serve(line, over)
    })
  }

  const goOn = () => {
    if (nets.size === 0) {
      isScheduled = false
      return
    }
    const [net, clients] = rotate(nets)
    const [client, line] = rotate(clients)
    until = performance.now() + WORKING_MS
    setImmediate(goOn)
    serve(line, () => {
      clients.delete(client)
      if (clients.size === 0) nets.delete(net)
    })
  }

  const take: Turns['take'] = ({ id, net }) => {
    if (performance.now() < until) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    const clients = nets.get(net) ?? new Map<string, Line>()
    const line = clients.get(id) ?? []
    line.push(resolve)
    nets.set(net, clients.set(id, line))
    if (!isScheduled) setImmediate(goOn)
    isScheduled = true
    return promise
  }

  return { take }
}
