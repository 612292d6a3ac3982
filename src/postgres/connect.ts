import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

/** How values leave Postgres: int8 as bigint, json as the very text that is stored. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === pg.types.builtins.INT8) return BigInt
    if (oid === pg.types.builtins.JSON) return (text: string) => text
    return pg.types.getTypeParser(oid, format)
  }) as typeof pg.types.getTypeParser,
}

/**
 * Every query here goes by key. Plans are kept for as long as a connection lives, and one that was made while a table
 * was empty would scan it whole until somebody analyses it: so such plans are not made at all.
 */
const BY_KEY = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off'

const settings = (url: string, name: string): pg.ClientConfig => ({
  connectionString: url,
  application_name: `tracebook ${name}`,
  types,
  connectionTimeoutMillis: 5_000,
  options: BY_KEY,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
})

/** A single connection. Its errors are for the caller: without an `error` listener a lost server ends the process. */
export const newClient = (url: string, name: string, statementTimeoutMs = 0): pg.Client =>
  new pg.Client({ ...settings(url, name), statement_timeout: statementTimeoutMs })

/** A connection that applies events to the read models of a schema: its statements go out without waiting. */
export const newApplyingClient = (url: string, schema: string): pg.Client => {
  const options = `-c search_path=${schema} -c synchronous_commit=off ${BY_KEY}`
  return new pg.Client({ ...settings(url, `projections ${schema}`), pipeline: true, options } as pg.ClientConfig)
}

/** Cuts a connection off at once, also when the server no longer answers: its queries fail. */
export const cut = (client: pg.Client): void => {
  const { connection } = client as pg.Client & { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}

/** Ends a connection politely; a server that does not answer is not waited for. */
export const hangUp = async (client: pg.Client): Promise<void> => {
  const impatient = setTimeout(cut, 1_000, client)
  await client.end().catch(() => {})
  clearTimeout(impatient)
}

/** A pool of `max` connections that survives the loss of the server, also one that vanishes without a word. */
export const newPool = (
  url: string,
  name: string,
  max: number,
  statementTimeoutMs = 30_000,
  schema?: string,
): pg.Pool => {
  const path = schema ? { options: `-c search_path=${schema} ${BY_KEY}` } : {}
  const limits = { statement_timeout: statementTimeoutMs, query_timeout: 2 * statementTimeoutMs, ...path }
  const pool = new pg.Pool({ ...settings(url, name), ...limits, max, idleTimeoutMillis: 60_000 })
  pool.on('error', () => {})
  // While a client is lent out, its errors are not the pool's; without a listener they would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Kysely over a pool, for what is not a hot path. */
export const kyselyOver = <Tables>(pool: pg.Pool): Kysely<Tables> =>
  new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })

const isMistake = (error: unknown) =>
  error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError

/** A fault of the connection or of the server's state, not of the statement: the same again may pass. */
export const isTransient = (error: unknown): boolean => {
  if (!(error instanceof pg.DatabaseError)) return !isMistake(error) // the socket, a timeout: `EPIPE` is no SQLSTATE
  return /^(08|53|57|58|40|55|XX|25006)/.test(error.code ?? '08')
}

/** No room left on the disk, or the reserve is touched. */
export const isDiskFull = (error: unknown): boolean => (error as { code?: unknown }).code === '53100'
