import { createHash } from 'node:crypto'

/** The URL with a prefix of its own for the streams, so that a server may hold much else. */
export const withPrefix = (server: string, prefix: string): string =>
  `${server}${server.includes('?') ? '&' : '?'}streamPrefix=${prefix}`

/**
 * Where the log is that belongs to a database, or to a `DATA_DIR`: in the EventStoreDB of the run, under a prefix of its
 * own; nothing when the run has its logs in Postgres. The same place has the same log, in every process of the run.
 */
export const eventStoreUrlOf = (place: string): string | undefined => {
  const { TEST_LOG_URL: server, TEST_RUN: run = 'test' } = process.env
  if (!server) return undefined
  // A database has one log, by whatever way it is reached.
  const name = URL.canParse(place) ? new URL(place).pathname : place
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16)
  return withPrefix(server, `${run}-${digest}.`)
}

/** What a service on this database, or `DATA_DIR`, has to be told of its log. */
export const logEnvironment = (place: string): { readonly EVENTSTORE_URL: string } => ({
  EVENTSTORE_URL: eventStoreUrlOf(place) ?? '',
})
