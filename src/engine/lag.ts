import type { Watermark } from './watermark.ts'

type Place = Pick<Watermark, 'position'>

/** For how long read models have been missing something that this node has heard of. */
export type Lag = {
  /** In milliseconds. Has to be asked again and again: how long it has been is counted from one time to the next. */
  ms(): number
  /** Nothing is known to be missing for longer than from now on. */
  reset(): void
}

/** Under load read models never stand where the log does: what counts is when they reach where it stood. */
export const newLag = (lastSeen: Place, readModels: Place): Lag => {
  let target = { position: 0n, since: performance.now() }
  const reset = () => {
    target = { position: lastSeen.position(), since: performance.now() }
  }
  const ms = () => {
    if (readModels.position() >= target.position) reset()
    return readModels.position() >= target.position ? 0 : performance.now() - target.since
  }
  return { ms, reset }
}
