import { closeCodes } from '../contract/close-codes.ts'
import type { RealtimeSettings } from './settings.ts'

/** What the reference says beside the contract of `GET /v1/realtime`: the limits that this service has. */
export const limitsText = (settings: RealtimeSettings): string => `

Limits: a connection may have ${settings.REALTIME_SUBSCRIPTIONS} subscriptions. A session may have ${settings.REALTIME_CONNECTIONS_SESSION} connections, \
an address without a session ${settings.REALTIME_CONNECTIONS_ADDRESS}, and an address in all four times as many. Beyond that, the service refuses the \
upgrade with 429, or closes the connection with ${closeCodes.tooMany}.`
