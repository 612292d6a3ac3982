/** Work for one key is done in its order, one at a time; work for different keys at the same time, up to a width. */
export type KeyedQueue = {
  /** A job must end, and must not throw. */
  add(key: string, job: () => Promise<void>): void
  /** Resolves when nothing is left to do. */
  idle(): Promise<void>
}

export const newKeyedQueue = (width: number): KeyedQueue => {
  const queues = new Map<string, (() => Promise<void>)[]>()
  const ready: string[] = []
  let running = 0
  let atRest: (() => void)[] = []

  const done = (key: string) => {
    const queue = queues.get(key)!
    queue.shift()
    if (queue.length > 0) ready.push(key)
    else queues.delete(key)
    running -= 1
    pump()
    if (queues.size > 0) return
    for (const resolve of atRest) resolve()
    atRest = []
  }

  const pump = () => {
    while (running < width && ready.length > 0) {
      const key = ready.shift()!
      running += 1
      void queues.get(key)![0]!().then(() => done(key))
    }
  }

  const add = (key: string, job: () => Promise<void>) => {
    const queue = queues.get(key)
    if (queue) queue.push(job)
    else {
      queues.set(key, [job])
      ready.push(key)
    }
    pump()
  }

  const idle = () =>
    new Promise<void>((resolve) => {
      if (queues.size === 0) resolve()
      else atRest.push(resolve)
    })

  return { add, idle }
}
