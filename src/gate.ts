/**
 * Runs work for a caller, which is named; at most so many pieces of work of all callers at once. It is for work that all may
 * wait for; where waiting has an end and pieces differ in size, as bodies and answers in memory do, see `http/semaphore.ts`.
 */
export type Gate = <T>(caller: string, work: () => Promise<T>) => Promise<T>

/** Runs `width` at once. What waits is let in by turns, one caller after the other, so that none holds up all others. */
export const newGate = (width: number): Gate => {
  let inside = 0
  const queues = new Map<string, (() => void)[]>() // the caller whose turn it is comes first

  const wait = (caller: string) =>
    new Promise<void>((resolve) => {
      const queue = queues.get(caller)
      if (queue) queue.push(resolve)
      else queues.set(caller, [resolve])
    })

  /** The first in the queue of the caller whose turn it is, which then waits behind all others. */
  const next = () => {
    const [first] = queues
    if (!first) return undefined
    const [caller, queue] = first
    const enter = queue.shift()
    queues.delete(caller)
    if (queue.length > 0) queues.set(caller, queue)
    return enter
  }

  return async (caller, work) => {
    if (inside >= width) await wait(caller)
    else inside += 1
    try {
      return await work()
    } finally {
      const enter = next()
      if (enter) enter()
      else inside -= 1
    }
  }
}
