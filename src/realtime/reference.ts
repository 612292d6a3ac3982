import { closeCodes } from '../contract/close-codes.ts'
import type { RealtimeSettings } from './settings.ts'

/** The limits of this service, for the reference of `GET /v1/realtime`. */
export const limitsText = (settings: RealtimeSettings): string => `

Limits: a connection may have ${settings.REALTIME_SUBSCRIPTIONS} subscriptions. A session may have ${settings.REALTIME_CONNECTIONS_SESSION} connections, \
an address without a session ${settings.REALTIME_CONNECTIONS_ADDRESS}, and an address in all four times as many. Beyond that, the service refuses the \
upgrade with 429, or closes the connection with ${closeCodes.tooMany}.`
