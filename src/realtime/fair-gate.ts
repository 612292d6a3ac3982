/** Runs work of several callers, at most so much of it at once. */
export type FairGate = <T>(callerKey: string, work: () => Promise<T>) => Promise<T>

/** Lets `width` in at once. Callers whose work waits take turns, however much one of them asks for. */
export const newFairGate = (width: number): FairGate => {
  let running = 0
  const queues = new Map<string, (() => void)[]>()

  const wait = (callerKey: string) =>
    new Promise<void>((resolve) => {
      const queue = queues.get(callerKey)
      if (queue) queue.push(resolve)
      else queues.set(callerKey, [resolve])
    })

  /** The first of the queue whose turn it is, which then waits behind all others. */
  const next = () => {
    const [first] = queues
    if (!first) return undefined
    const [callerKey, queue] = first
    const enter = queue.shift()
    queues.delete(callerKey)
    if (queue.length > 0) queues.set(callerKey, queue)
    return enter
  }

  return async (callerKey, work) => {
    if (running >= width) await wait(callerKey)
    else running += 1
    try {
      return await work()
    } finally {
      const enter = next()
      if (enter) enter()
      else running -= 1
    }
  }
}
