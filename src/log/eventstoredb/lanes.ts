/** Work for one key is done in its order, one at a time; work for different keys at the same time, up to a width. */
export type Lanes = {
  /** A job must end, and must not throw. */
  add(key: string, job: () => Promise<void>): void
  /** Resolves when nothing is left to do. */
  idle(): Promise<void>
}

export const newLanes = (width: number): Lanes => {
  const lanes = new Map<string, (() => Promise<void>)[]>()
  const ready: string[] = []
  let running = 0
  let atRest: (() => void)[] = []

  const done = (key: string) => {
    const lane = lanes.get(key)!
    lane.shift()
    if (lane.length > 0) ready.push(key)
    else lanes.delete(key)
    running -= 1
    pump()
    if (lanes.size > 0) return
    for (const resolve of atRest) resolve()
    atRest = []
  }

  const pump = () => {
    while (running < width && ready.length > 0) {
      const key = ready.shift()!
      running += 1
      void lanes.get(key)![0]!().then(() => done(key))
    }
  }

  const add = (key: string, job: () => Promise<void>) => {
    const lane = lanes.get(key)
    if (lane) lane.push(job)
    else {
      lanes.set(key, [job])
      ready.push(key)
    }
    pump()
  }

  const idle = () =>
    new Promise<void>((resolve) => {
      if (lanes.size === 0) resolve()
      else atRest.push(resolve)
    })

  return { add, idle }
}
