import { createHash } from 'node:crypto'

/** The URL with a prefix for the streams, so that a server may also hold others. */
export const withPrefix = (server: string, prefix: string): string =>
  `${server}${server.includes('?') ? '&' : '?'}streamPrefix=${prefix}`

/**
 * The URL of the log that belongs to a database or a `DATA_DIR`: in the EventStoreDB of the run, with a prefix of its own;
 * undefined if the run has its logs in Postgres. The same database has the same log in every process of the run.
 */
export const eventStoreUrlOf = (place: string): string | undefined => {
  const { TEST_LOG_URL: server, TEST_RUN: run = 'test' } = process.env
  if (!server) return undefined
  // A database has one log, regardless of the address that it is reached by.
  const name = URL.canParse(place) ? new URL(place).pathname : place
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16)
  return withPrefix(server, `${run}-${digest}.`)
}

/** The environment variables of a service on this database or `DATA_DIR` that name its log. */
export const logEnvironment = (place: string): { readonly EVENTSTORE_URL: string } => ({
  EVENTSTORE_URL: eventStoreUrlOf(place) ?? '',
})
