import { REQUEST_WAIT_MS } from '../../base/waits.ts'
import { type Room, UNLIMITED } from './room.ts'

/** A limit on how much a namespace may hold. */
export type Quota = {
  /**
   * Runs a write that adds `most` or less to a namespace, with the room that is reserved for it until it ends: `most`, or what is left. While
   * others have reserved of what is left, the write waits for them, because they may add less, or fail.
   */
  enforce<T>(namespaceId: string, most: number, write: (room: Room) => Promise<T>): Promise<T>
}

type QuotaOptions = {
  /** Undefined: no limit, and `enforce` only runs the write. */
  readonly limit: number | undefined
  /** The unit of the limit, for error texts, such as `traces`. */
  readonly unit: string
  /** Reads how much a namespace holds. It includes at least all writes of this node that ended before the call. */
  readonly readUsage: (namespaceId: string) => Promise<number>
  /** How long a write waits for others; then it gets the room that they leave. In milliseconds. Default: as long as a request waits. */
  readonly timeoutMs?: number
}

/** What the writes of this node to one namespace have reserved. */
type Reservations = {
  /** Reserved by writes that are under way. */
  open: number
  /** Reserved by writes that have ended since the first of these reservations. */
  settled: number
  /** How many writes wait or are under way; the reservations are dropped when it becomes 0. */
  writes: number
  /** Resolves when the next write ends. */
  nextEnd: PromiseWithResolvers<void>
}

/**
 * A quota that is exact on one node: a reservation of another write counts until `readUsage` is known to include it. Writes of
 * other nodes count once the read models show them, so with n nodes a namespace may exceed its quota by what the other n - 1
 * nodes have under way when it is reached.
 */
export const newQuota = ({ limit, unit, readUsage, timeoutMs = REQUEST_WAIT_MS }: QuotaOptions): Quota => {
  if (limit === undefined) return { enforce: (_namespaceId, _most, write) => write(UNLIMITED) }
  const byNamespace = new Map<string, Reservations>()

  const acquire = (namespaceId: string): Reservations => {
    const nothing = () => ({ open: 0, settled: 0, writes: 0, nextEnd: Promise.withResolvers<void>() })
    const reservations = byNamespace.get(namespaceId) ?? nothing()
    byNamespace.set(namespaceId, reservations)
    reservations.writes += 1
    return reservations
  }

  const release = (namespaceId: string, reservations: Reservations) => {
    reservations.writes -= 1
    if (reservations.writes === 0) byNamespace.delete(namespaceId)
  }

  /** Reserves `most`, or what is left once no other write has reserved of it. */
  const reserve = async (namespaceId: string, reservations: Reservations, most: number): Promise<number> => {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const { promise: nextEnd } = reservations.nextEnd
      const settledBefore = reservations.settled
      const left = Math.max(0, limit - (await readUsage(namespaceId)))
      // What is left may or may not be without what others have reserved.
      const free = Math.max(0, left - (reservations.open + reservations.settled - settledBefore))
      const own = Math.min(most, free)
      if (own === Math.min(most, left) || performance.now() > deadline) {
        reservations.open += own
        return own
      }
      await nextEnd
    }
  }

  const settle = (reservations: Reservations, amount: number) => {
    reservations.open -= amount
    reservations.settled += amount
    reservations.nextEnd.resolve()
    reservations.nextEnd = Promise.withResolvers<void>()
  }

  const enforce = async <T>(namespaceId: string, most: number, write: (room: Room) => Promise<T>): Promise<T> => {
    const reservations = acquire(namespaceId)
    try {
      const free = await reserve(namespaceId, reservations, most)
      return await write({ free, limit, unit }).finally(() => settle(reservations, free))
    } finally {
      release(namespaceId, reservations)
    }
  }

  return { enforce }
}
