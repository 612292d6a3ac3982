import type { Position } from '../log.ts'
import type { Batch } from './reader.ts'

/** One page of the log, asked for once the wake-ups had come to a version. Nothing when it could not be read. */
export type Look = {
  readonly seen: number
  readonly page: Promise<Batch | undefined>
  /** For a follower that does not wait any longer: the last one to leave ends the read. */
  leave(): void
}

type Kept = Pick<Look, 'seen' | 'page'> & { readonly began: number; readonly stop: AbortController; followers: number }

export type Looks = {
  /** A look behind a position: a new one, or one that another follower has begun there. */
  at(position: Position): Look
  /** Lets go of what has been read: some of it has been erased. */
  forget(): void
}

const KEPT_BYTES = 8 * 1024 * 1024
/** Afterwards others may have erased some of it. */
const KEPT_MS = 1_000

const weightOf = ({ events }: Batch) =>
  events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length + 200, 0)

/**
 * The followers of a process go through the log one close behind the other: what the first has read, the others get from
 * memory. A look says which version of the wake-ups it has seen, so whoever shares an old one looks again at once.
 */
export const newLooks = (
  version: () => number,
  read: (after: Position, signal: AbortSignal) => Promise<Batch>,
): Looks => {
  const kept = new Map<Position, Kept>()
  const weights = new Map<Kept, number>()

  const drop = (position: Position, look: Kept) => {
    if (kept.get(position) === look) kept.delete(position)
    weights.delete(look)
  }

  const keep = (position: Position, look: Kept, page: Batch) => {
    if (kept.get(position) !== look) return
    weights.set(look, weightOf(page))
    for (const [oldest, other] of kept) {
      const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
      if (total <= KEPT_BYTES) return
      drop(oldest, other)
    }
  }

  const begin = (position: Position): Kept => {
    const stop = new AbortController()
    const seen = version() // before the look: what comes after it is not missed
    const page = read(position, stop.signal).then(
      (read) => {
        if (read.through > position) keep(position, look, read)
        else drop(position, look) // nothing new: the next one has to look for itself
        return read
      },
      () => {
        drop(position, look)
        return undefined
      },
    )
    const look = { seen, page, began: performance.now(), stop, followers: 0 }
    kept.set(position, look)
    return look
  }

  const at = (position: Position): Look => {
    const known = kept.get(position)
    const look = known && performance.now() - known.began < KEPT_MS ? known : begin(position)
    look.followers += 1
    let isHere = true
    const leave = () => {
      if (isHere) look.followers -= 1
      isHere = false
      if (look.followers > 0) return
      drop(position, look)
      look.stop.abort()
    }
    return { seen: look.seen, page: look.page, leave }
  }

  return {
    at,
    forget: () => {
      kept.clear()
      weights.clear()
    },
  }
}
