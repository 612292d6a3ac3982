import { Rejected } from '../../eventstore/engine/rejected.ts'
import { REQUEST_WAIT_MS } from '../../base/waits.ts'

/**
 * Reserves room for the traces or bytes that a write adds. The write calls it in its decision, and again whenever the decision is repeated; then
 * only the last amount counts. An amount of 0 or less is always allowed.
 * @throws Rejected quota_exceeded; payload_too_large for an amount that would not even fit into an empty namespace
 */
export type Reserve = (amount: number) => void

/** A limit on how much a namespace may hold. */
export type Quota = {
  /**
   * Runs a write to a namespace. May run it more than once while other writes compete for the last room, each time with a new
   * `reserve`, which the write has to call before it stores anything.
   */
  enforce<T>(namespaceId: string, write: (reserve: Reserve) => Promise<T>): Promise<T>
}

type QuotaOptions = {
  /** Undefined: no limit, and `enforce` only runs the write. */
  readonly limit: number | undefined
  /** The unit of the limit, for error texts, such as `traces`. */
  readonly unit: string
  /** Reads how much a namespace holds. It includes at least all writes of this node that ended before the call. */
  readonly readUsage: (namespaceId: string) => Promise<number>
  /** How long a write waits for writes that compete with it, in milliseconds. Default: as long as a request waits. */
  readonly timeoutMs?: number
}

/** What the writes of this node to one namespace have reserved. */
type Reservations = {
  /** Reserved by writes that are under way. */
  open: number
  /** Reserved by writes that have ended since the first of these reservations. */
  settled: number
  /** How many writes are under way; the reservations are dropped when it becomes 0. */
  writes: number
  /** Resolves when the next write ends. */
  nextEnd: PromiseWithResolvers<void>
}

/** Thrown when it depends on other writes, which are still under way, whether a write fits. */
class Contended extends Error {}

/**
 * A quota that is exact on one node: a reservation of another write counts until `readUsage` is known to include it. Writes of
 * other nodes count once the read models show them, so with n nodes a namespace may exceed its quota by what the other n - 1
 * nodes have under way when it is reached.
 */
export const newQuota = ({ limit, unit, readUsage, timeoutMs = REQUEST_WAIT_MS }: QuotaOptions): Quota => {
  if (limit === undefined) return { enforce: (_namespaceId, write) => write(() => {}) }
  const byNamespace = new Map<string, Reservations>()
  const exceeded = () =>
    new Rejected(
      'quota_exceeded',
      `The namespace may not hold more than ${limit} ${unit}: delete traces there, or ask the operator for more`,
    )

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

  const settle = (reservations: Reservations, amount: number) => {
    reservations.open -= amount
    reservations.settled += amount
    reservations.nextEnd.resolve()
    reservations.nextEnd = Promise.withResolvers<void>()
  }

  /** Reads the usage once and runs the write. @throws Contended from `reserve` */
  const attempt = async <T>(
    namespaceId: string,
    reservations: Reservations,
    write: (reserve: Reserve) => Promise<T>,
  ) => {
    const settledBefore = reservations.settled
    const usage = await readUsage(namespaceId)
    let own = 0
    let hasReserved = false
    const reserve = (amount: number) => {
      reservations.open -= own
      own = 0
      if (amount <= 0) return
      if (amount > limit)
        throw new Rejected(
          'payload_too_large',
          `This request alone exceeds what a namespace may hold, ${limit} ${unit}: send less`,
        )
      if (usage + amount > limit) throw exceeded()
      // `usage` may or may not include what others have reserved.
      const reservedByOthers = reservations.open + reservations.settled - settledBefore
      if (usage + amount + reservedByOthers > limit) throw new Contended()
      own = amount
      hasReserved = true
      reservations.open += own
    }
    try {
      return await write(reserve)
    } finally {
      if (hasReserved) settle(reservations, own)
    }
  }

  const enforce = async <T>(namespaceId: string, write: (reserve: Reserve) => Promise<T>): Promise<T> => {
    const deadline = performance.now() + timeoutMs
    const reservations = acquire(namespaceId)
    try {
      for (;;) {
        const { promise: nextEnd } = reservations.nextEnd
        try {
          return await attempt(namespaceId, reservations, write)
        } catch (error) {
          if (!(error instanceof Contended)) throw error
          if (performance.now() > deadline) throw exceeded()
          await nextEnd
        }
      }
    } finally {
      release(namespaceId, reservations)
    }
  }

  return { enforce }
}
