import { closeCodes } from '../contract/close-codes.ts'
import type { RealtimeSettings } from './settings.ts'

/** What the reference says beside the contract of `GET /v1/realtime`: the limits that this service has. */
export const limitsText = (settings: RealtimeSettings): string => `

Limits: ${settings.REALTIME_SUBSCRIPTIONS} subscriptions on a connection; ${settings.REALTIME_CONNECTIONS_SESSION} connections of a session, \
${settings.REALTIME_CONNECTIONS_ADDRESS} of an address without one, four times as many of an address in all (429, or close code ${closeCodes.tooMany}).`
