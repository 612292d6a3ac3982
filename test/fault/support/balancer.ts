import { setLimit } from '../../support/set-limit.ts'
import type { Answered, Asking, Service } from './service.ts'

/** What the README promises for a process that is frozen; one that dies is replaced at once. */
const MOST_REFUSED_MS = 10_000
const CHECK_MS = 1_000

/** Sends a request, and gives it up when the node does not answer a health check meanwhile. */
const whileHealthy = async (node: Service, send: (signal: AbortSignal) => Promise<Answered>): Promise<Answered> => {
  const unhealthy = new AbortController()
  const check = () =>
    fetch(`${node.url}/health`, { signal: AbortSignal.timeout(CHECK_MS) }).catch(() => unhealthy.abort())
  const checks = setInterval(() => void check(), CHECK_MS)
  return send(unhealthy.signal).finally(() => clearInterval(checks))
}

/**
 * A client behind a balancer: a request goes to one node, and to the next one when that is not healthy, or answers 503, until it is answered.
 * Later requests stay where the last one was answered.
 */
export const newBalanced = (nodes: () => readonly Service[]) => {
  let turn = 0
  let [longest, isLate] = [0, false]

  const send = (method: string, path: string, asking: Asking) => {
    const all = nodes()
    const node = all[turn % all.length]!
    return whileHealthy(node, (signal) => node.call(method, path, { ...asking, signal }))
  }

  const untilAnswered = async (method: string, path: string, asking: Asking): Promise<Answered> => {
    for (; ; turn++) {
      const answer = await send(method, path, asking).catch(() => undefined)
      if (answer && answer.status !== 503) return answer
    }
  }

  const call = async (method: string, path: string, asking: Asking = {}): Promise<Answered> => {
    const since = performance.now()
    const lift = setLimit(MOST_REFUSED_MS, () => (isLate = true))
    const answer = await untilAnswered(method, path, asking).finally(lift)
    longest = Math.max(longest, performance.now() - since)
    return answer
  }

  return {
    call,
    /** How long the slowest request took until it was answered, in milliseconds. */
    longestMs: () => longest,
    /** Whether a request was refused for longer than 10 s; on a busy machine, as for all limits of tests, for five times as long. */
    wasLate: () => isLate,
  }
}
