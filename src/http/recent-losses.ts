import type { DecodedEvent } from '../engine/projection.ts'
import { type Ends, type Sending, lossOf } from '../trace/lost-rights.ts'

/** The newest events that took somebody's right to read: what a snapshot of the read models may not have shown yet. */
export type RecentLosses = {
  /** Notes an event, and gives what it ends. */
  note(event: DecodedEvent): Ends | undefined
  /** Whether an event behind `position` has ended this; `unknown` when events behind it are forgotten already. */
  since(position: bigint, sending: Sending): 'kept' | 'lost' | 'unknown'
  /** Forgets all: positions mean something else from now on. */
  restart(): void
}

const REMEMBERED = 5_000

type Loss = { readonly position: bigint; readonly ends: Ends }

export const newRecentLosses = (keep = REMEMBERED): RecentLosses => {
  let losses: Loss[] = []
  let forgotten = -1n

  const note = (event: DecodedEvent) => {
    const ends = lossOf(event)
    if (!ends) return undefined
    losses.push({ position: event.position, ends })
    if (losses.length > 2 * keep) {
      forgotten = losses[keep - 1]!.position
      losses = losses.slice(keep)
    }
    return ends
  }

  const since = (position: bigint, sending: Sending) => {
    if (position < forgotten) return 'unknown'
    for (let i = losses.length - 1; i >= 0 && losses[i]!.position > position; i--)
      if (losses[i]!.ends(sending)) return 'lost'
    return 'kept'
  }

  const restart = () => {
    losses = []
    forgotten = -1n
  }

  return { note, since, restart }
}
