import { Rejected } from '../../eventstore/engine/rejected.ts'

/** How much a write may add to what a namespace holds: traces, or bytes. A quota gives it (`quota.ts`), and a decision keeps to it. */
export type Room = {
  readonly free: number
  /** What an empty namespace may hold. */
  readonly limit: number
  /** The unit of both, for error texts, such as `traces`. */
  readonly unit: string
}

export const UNLIMITED: Room = { free: Infinity, limit: Infinity, unit: '' }

/**
 * An amount of 0 or less always fits.
 * @throws Rejected quota_exceeded; payload_too_large for an amount that would not even fit into an empty namespace
 */
export const assertFits = ({ free, limit, unit }: Room, amount: number): void => {
  if (amount <= Math.max(free, 0)) return
  if (amount > limit)
    throw new Rejected(
      'payload_too_large',
      `This request alone exceeds what a namespace may hold, ${limit} ${unit}: send less`,
    )
  throw new Rejected(
    'quota_exceeded',
    `The namespace may not hold more than ${limit} ${unit}: delete traces there, or ask the operator for more`,
  )
}
