/** Runs the jobs of one key one after the other, and jobs of different keys concurrently, up to a limit. */
type KeyedQueue = {
  /** The promise of a job must settle, and not reject. */
  add(key: string, job: () => Promise<void>): void
  /** Resolves when all jobs are done. */
  idle(): Promise<void>
}

export const newKeyedQueue = (maxRunning: number): KeyedQueue => {
  const queues = new Map<string, (() => Promise<void>)[]>()
  const ready: string[] = []
  let running = 0
  let whenIdle: (() => void)[] = []

  const done = (key: string) => {
    const queue = queues.get(key)!
    queue.shift()
    if (queue.length > 0) ready.push(key)
    else queues.delete(key)
    running -= 1
    startReady()
    if (queues.size > 0) return
    for (const resolve of whenIdle) resolve()
    whenIdle = []
  }

  const startReady = () => {
    while (running < maxRunning && ready.length > 0) {
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
    startReady()
  }

  const idle = () =>
    new Promise<void>((resolve) => {
      if (queues.size === 0) resolve()
      else whenIdle.push(resolve)
    })

  return { add, idle }
}
