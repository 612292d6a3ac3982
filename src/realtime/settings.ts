import type { z } from 'zod'
import { wholeNumber } from '../base/whole-number.ts'

const atMost = (fallback: number) => wholeNumber(1, 1_000_000).default(fallback)

/** How much realtime one client may use. These limits also apply with `RATE_LIMITS=off`. */
export const realtimeSettings = {
  /** Of one connection. */
  REALTIME_SUBSCRIPTIONS: atMost(100),
  /** Of one session. */
  REALTIME_CONNECTIONS_SESSION: atMost(20),
  /** Of one address, for connections without a session. */
  REALTIME_CONNECTIONS_ADDRESS: atMost(100),
}

export type RealtimeSettings = {
  readonly [Name in keyof typeof realtimeSettings]: z.output<(typeof realtimeSettings)[Name]>
}
