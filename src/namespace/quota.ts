import { Rejected } from '../engine/rejected.ts'

/**
 * Says how much a write adds, at its decision and again when that is repeated; what adds nothing is always allowed.
 * @throws Rejected quota_exceeded; payload_too_large for what would not fit into an empty namespace
 */
export type Claim = (amount: number) => void

/** How much of something a namespace may hold. */
export type Quota = {
  /** Runs a write to a namespace, perhaps more than once: each time with a claim of its own, made before anything is stored. */
  within<T>(namespaceId: string, write: (claim: Claim) => Promise<T>): Promise<T>
}

export type QuotaOptions = {
  /** Undefined for no quota, which costs nothing. */
  readonly limit: number | undefined
  /** What is counted, in words. */
  readonly unit: string
  /** How much a namespace holds: all that was written on this node before it is asked, at least. */
  readonly used: (namespaceId: string) => Promise<number>
  readonly patienceMs?: number
}

/** What the writes of this node to one namespace come to. */
type Tally = {
  /** Claimed by writes under way. */
  open: number
  /** Claimed by writes that have ended, ever since there is this tally. */
  settled: number
  users: number
  next: PromiseWithResolvers<void>
}

/** Whether a write fits cannot be told while others are under way. */
class Crowded extends Error {}

/**
 * A quota that is exact on one node: what its other writes have claimed counts until it is known to stand in what is used.
 * Other nodes' writes count once the read models show them: so n nodes may take a namespace over its quota by what the
 * n - 1 others have under way at the moment that it is reached.
 */
export const newQuota = ({ limit, unit, used, patienceMs = 5_000 }: QuotaOptions): Quota => {
  if (limit === undefined) return { within: (_namespaceId, write) => write(() => {}) }
  const tallies = new Map<string, Tally>()
  const exceeded = () => new Rejected('quota_exceeded', `The namespace may not hold more than ${limit} ${unit}`)

  const enter = (namespaceId: string): Tally => {
    const tally = tallies.get(namespaceId) ?? { open: 0, settled: 0, users: 0, next: Promise.withResolvers<void>() }
    tallies.set(namespaceId, tally)
    tally.users += 1
    return tally
  }

  const leave = (namespaceId: string, tally: Tally) => {
    tally.users -= 1
    if (tally.users === 0) tallies.delete(namespaceId)
  }

  const settle = (tally: Tally, amount: number) => {
    tally.open -= amount
    tally.settled += amount
    tally.next.resolve()
    tally.next = Promise.withResolvers<void>()
  }

  /** One look at what is used, and a write by it. @throws Crowded */
  const attempt = async <T>(namespaceId: string, tally: Tally, write: (claim: Claim) => Promise<T>) => {
    const before = tally.settled
    const held = await used(namespaceId)
    let own = 0
    let hasClaimed = false
    const claim = (amount: number) => {
      tally.open -= own
      own = 0
      if (amount <= 0) return
      if (amount > limit) throw new Rejected('payload_too_large', `A namespace may not hold more than ${limit} ${unit}`)
      if (held + amount > limit) throw exceeded()
      // Some of this may stand in `held` already.
      if (held + amount + tally.open + tally.settled - before > limit) throw new Crowded()
      own = amount
      hasClaimed = true
      tally.open += own
    }
    try {
      return await write(claim)
    } finally {
      if (hasClaimed) settle(tally, own)
    }
  }

  const within = async <T>(namespaceId: string, write: (claim: Claim) => Promise<T>): Promise<T> => {
    const end = performance.now() + patienceMs
    const tally = enter(namespaceId)
    try {
      for (;;) {
        const { promise: moved } = tally.next
        try {
          return await attempt(namespaceId, tally, write)
        } catch (error) {
          if (!(error instanceof Crowded)) throw error
          if (performance.now() > end) throw exceeded()
          await moved
        }
      }
    } finally {
      leave(namespaceId, tally)
    }
  }

  return { within }
}
