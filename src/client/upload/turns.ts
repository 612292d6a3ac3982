/** How many bytes may be on their way at once. */
export type Budget = {
  /** Waits until this many bytes are free. A request for more than the total takes all of them. */
  readonly take: (bytes: number) => Promise<void>
  readonly giveBack: (bytes: number) => void
}

/** A budget of `total` bytes, given out in the order in which they are asked for. */
export const newBudget = (total: number): Budget => {
  let free = total
  const waiting: { readonly bytes: number; readonly enter: () => void }[] = []
  const admit = () => {
    while (waiting.length > 0 && waiting[0]!.bytes <= free) {
      const { bytes, enter } = waiting.shift()!
      free -= bytes
      enter()
    }
  }
  return {
    take: (bytes) =>
      new Promise((enter) => {
        waiting.push({ bytes: Math.min(bytes, total), enter })
        admit()
      }),
    giveBack: (bytes) => {
      free += Math.min(bytes, total)
      admit()
    },
  }
}

/** The turn of one session to be read and encoded. */
export type Turn = {
  /** Runs `work` once it is this session's turn. Throws the reason of the run's signal. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>
  /** Called within `during`: while it is waited for, it is the turn of another session. */
  readonly pausedFor: <T>(wait: () => Promise<T>) => Promise<T>
  /** Called within `during`: runs `work` while no other session has work with this key under way. */
  readonly alone: <T>(key: string, work: () => Promise<T>) => Promise<T>
}

/** Runs pieces of work with the same key one after the other. */
const newQueues = () => {
  const last = new Map<string, Promise<unknown>>()
  /** Waits for the work before within `wait`. */
  return async <T>(key: string, wait: Turn['pausedFor'], work: () => Promise<T>): Promise<T> => {
    const before = last.get(key)
    const { promise, resolve: end } = Promise.withResolvers<void>()
    last.set(key, promise)
    if (before) await wait(() => before)
    try {
      return await work()
    } finally {
      if (last.get(key) === promise) last.delete(key)
      end()
    }
  }
}

/** The turns of `count` sessions at once, in the order in which they are asked for. No work begins once `signal` is aborted. */
export const newTurns = (count: number, signal: AbortSignal): (() => Turn) => {
  const free = newBudget(count)
  const queued = newQueues()
  const begin = () => free.take(1)
  const end = () => free.giveBack(1)
  const during: Turn['during'] = async (work) => {
    await begin()
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      end()
    }
  }
  const pausedFor: Turn['pausedFor'] = async (wait) => {
    end()
    try {
      return await wait()
    } finally {
      await begin()
    }
  }
  return () => ({ during, pausedFor, alone: (key, work) => queued(key, pausedFor, work) })
}
