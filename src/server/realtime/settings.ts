import type { z } from 'zod'
import { wholeNumber } from '../../base/whole-number.ts'
import { closeCodes } from '../../contract/close-codes.ts'

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

/** The limits of this service, for the reference of `GET /v1/realtime`. */
export const limitsText = (settings: RealtimeSettings): string => `

Limits: a connection may have ${settings.REALTIME_SUBSCRIPTIONS} subscriptions. A session may have ${settings.REALTIME_CONNECTIONS_SESSION} connections, \
an address without a session ${settings.REALTIME_CONNECTIONS_ADDRESS}, and an address in all four times as many. Beyond that, the service refuses the \
upgrade with 429, or closes the connection with ${closeCodes.tooMany}.`
