/** Why the service closes a connection, beside the codes of the protocol itself. */
export const closeCodes = {
  /** The service stops or restarts: connect again. */
  restarting: 1012,
  /** Nothing has been heard of the client for a minute. */
  silent: 4000,
  /** The client takes too long to read what it is sent. */
  slow: 4008,
  /** Too many connections of one session or address. */
  tooMany: 4029,
} as const
