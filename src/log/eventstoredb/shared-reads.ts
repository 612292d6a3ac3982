import type { Position } from '../log.ts'
import type { Batch } from './reader.ts'

/** One page of the log, asked for once the wake-ups had come to a version. Nothing when it could not be read. */
export type Look = {
  readonly seen: number
  readonly page: Promise<Batch | undefined>
  /** For a follower that does not wait any longer: the last one to leave ends the read. */
  leave(): void
}

type Kept = Pick<Look, 'seen' | 'page'> & {
  /** When it is too old to be shared; not while it is under way. */
  until: number
  readonly stop: AbortController
  followers: number
  weight: number
}

export type SharedReads = {
  /** A look behind a position: a new one, or one that another follower has begun there. */
  at(position: Position, isSparse?: boolean): Look
  /** Lets go of what has been read: some of it has been erased. */
  forget(): void
}

export type SharedReadsOptions = {
  /** Of the wake-ups. */
  readonly version: () => number
  readonly read: (after: Position, options: { signal: AbortSignal; isSparse: boolean }) => Promise<Batch>
  /** Milliseconds that only grow. */
  readonly now?: () => number
}

const KEPT_BYTES = 8 * 1024 * 1024
/** Of a page without events of ours, with all that hangs on it. */
const EMPTY_BYTES = 16 * 1024
/** Afterwards others may have erased some of it. */
const KEPT_MS = 1_000

const weightOf = ({ events }: Batch) =>
  events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length + 200, EMPTY_BYTES)

/**
 * The followers of a process go through the log one close behind the other: what the first has read, the others get from
 * memory. A look says which version of the wake-ups it has seen, so whoever shares an old one looks again at once.
 */
export const newSharedReads = ({ version, read, now = () => performance.now() }: SharedReadsOptions): SharedReads => {
  const kept = new Map<Position, Kept>() // in the order in which they began
  let weight = 0

  const drop = (position: Position, look: Kept) => {
    if (kept.get(position) !== look) return
    kept.delete(position)
    weight -= look.weight
  }

  /** What is too old, and from the oldest on what is too much. */
  const evict = () => {
    for (const [position, look] of kept)
      if (now() >= look.until || (weight > KEPT_BYTES && look.weight > 0)) drop(position, look)
  }

  const keep = (position: Position, look: Kept, page: Batch) => {
    if (kept.get(position) !== look) return
    look.until = now() + KEPT_MS
    look.weight = weightOf(page)
    weight += look.weight
    evict()
  }

  const begin = (position: Position, isSparse: boolean): Kept => {
    const stop = new AbortController()
    const seen = version() // before the look: what comes after it is not missed
    const page = read(position, { signal: stop.signal, isSparse }).then(
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
    const look: Kept = { seen, page, until: Number.POSITIVE_INFINITY, stop, followers: 0, weight: 0 }
    kept.set(position, look)
    return look
  }

  const at = (position: Position, isSparse = false): Look => {
    evict()
    const look = kept.get(position) ?? begin(position, isSparse)
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

  const forget = () => {
    kept.clear()
    weight = 0
  }

  return { at, forget }
}
