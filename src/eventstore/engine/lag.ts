import type { Watermark } from './watermark.ts'

type HasPosition = Pick<Watermark, 'position'>

/**
 * For how long read models have been behind the events that this node has seen.
 * Under load read models never reach the log's end, so the lag is measured against a target: the position that this node
 * had seen when the last target was reached.
 */
export const newLag = (lastSeen: HasPosition, watermark: HasPosition) => {
  let target = { position: 0n, since: performance.now() }

  /** Counts from now on. */
  const reset = () => {
    target = { position: lastSeen.position(), since: performance.now() }
  }

  /** The lag in milliseconds. Must be called regularly: a call that finds the read models caught up resets the lag. */
  const ms = () => {
    if (watermark.position() >= target.position) reset()
    return watermark.position() >= target.position ? 0 : performance.now() - target.since
  }
  return { ms, reset }
}

export type Lag = ReturnType<typeof newLag>
