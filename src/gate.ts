/** Runs work, at most so much of it at once. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>

/** Lets `width` in at once; the others wait in their order. */
export const newGate = (width: number): Gate => {
  let inside = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (inside >= width) await new Promise<void>((resolve) => waiting.push(resolve))
    else inside += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else inside -= 1
    }
  }
}
