/** Runs work for several askers, at most so much of it at once. */
export type FairGate = <T>(asker: string, work: () => Promise<T>) => Promise<T>

/** Lets `width` in at once. Those who wait are let in by turns, one asker after the other, whoever asks for the most. */
export const newFairGate = (width: number): FairGate => {
  let inside = 0
  const lanes = new Map<string, (() => void)[]>()

  const wait = (asker: string) =>
    new Promise<void>((resolve) => {
      const lane = lanes.get(asker)
      if (lane) lane.push(resolve)
      else lanes.set(asker, [resolve])
    })

  /** The first of the lane whose turn it is, which then waits behind all others. */
  const next = () => {
    const [first] = lanes
    if (!first) return undefined
    const [asker, lane] = first
    const enter = lane.shift()
    lanes.delete(asker)
    if (lane.length > 0) lanes.set(asker, lane)
    return enter
  }

  return async (asker, work) => {
    if (inside >= width) await wait(asker)
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
