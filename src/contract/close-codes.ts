/** The codes with which the service closes a WebSocket, beside those of the protocol. */
export const closeCodes = {
  /** The service stops, restarts, or is opened again. Connect again. */
  restarting: 1012,
  /** The client has sent nothing for a minute. */
  silent: 4000,
  /** The client reads too slowly. */
  slow: 4008,
  /** The session or the address has too many connections. */
  tooMany: 4029,
} as const
