/** Runs the jobs of one key one after the other, and jobs of different keys concurrently. */
export const newKeyedQueue = () => {
  const last = new Map<string, Promise<void>>()

  /** The promise of a job must settle, and not reject. */
  const add = (key: string, job: () => Promise<void>) => {
    const before = last.get(key)
    const done = (before ? before.then(job) : job()).finally(() => {
      if (last.get(key) === done) last.delete(key)
    })
    last.set(key, done)
  }

  /** Resolves when all jobs are done. */
  const idle = async () => {
    while (last.size > 0) await Promise.all(last.values())
  }

  return { add, idle }
}
