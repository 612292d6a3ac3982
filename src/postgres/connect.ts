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
const INDEX_PLANS = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off'

/** A machine that vanishes leaves sessions behind: within half a minute the server ends them, with their locks. */
const KEEPALIVES = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'

/** A process that is frozen in the middle of a transaction must not hold its locks. */
const IDLE_TRANSACTIONS = '-c idle_in_transaction_session_timeout=10000'

const COMMON = `${INDEX_PLANS} ${KEEPALIVES} ${IDLE_TRANSACTIONS}`

/** How much longer than a statement may take its answer is waited for: by then the network has lost it. */
const GRACE_MS = 1_000

const timeouts = (ms: number) => (ms === 0 ? {} : { statement_timeout: ms, query_timeout: ms + GRACE_MS })

/** The connection broke off, so that nothing was answered: over another one the same may pass at once. */
export const isConnectionLost = (error: unknown): boolean => {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const isEnded = /^(?:Connection terminated(?! due to)|Client has)/.test(message)
  return isEnded || ['57P01', '57P02', '57P05', '25P03', 'ECONNRESET', 'EPIPE'].includes(code)
}

const isUnanswered = (error: unknown) => error instanceof Error && error.message === 'Query read timeout'

const settings = (url: string, name: string): pg.ClientConfig => ({
  connectionString: url,
  application_name: `tracebook ${name}`,
  types,
  connectionTimeoutMillis: 5_000,
  options: COMMON,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
})

/** A single connection. Its errors are for the caller: without an `error` listener a lost server ends the process. */
export const newClient = (url: string, name: string, statementTimeoutMs = 0): pg.Client =>
  new pg.Client({ ...settings(url, name), ...timeouts(statementTimeoutMs) })

/** A connection that applies events to the read models of a schema: its statements go out without waiting. */
export const newApplyingClient = (url: string, schema: string): pg.Client => {
  const options = `-c search_path=${schema} -c synchronous_commit=off ${COMMON}`
  return new pg.Client({ ...settings(url, `projections ${schema}`), pipeline: true, options } as pg.ClientConfig)
}

/** Cuts a connection off at once, also when the server no longer answers: its queries fail. */
export const destroyConnection = (client: pg.Client): void => {
  const { connection } = client as pg.Client & { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}

/** Ends a connection politely; a server that does not answer is not waited for. */
export const closeConnection = async (client: pg.Client): Promise<void> => {
  const impatient = setTimeout(destroyConnection, 1_000, client)
  await client.end().catch(() => {})
  clearTimeout(impatient)
}

/** Where no statement is ever given up, a connection that was lost while it was idle costs too much: few wait there. */
const idleMs = (statementTimeoutMs: number) => (statementTimeoutMs === 0 ? 1_000 : 60_000)

/** The pool drops an idle connection that has an error at once; of its end it would learn too late. */
const discard = (client: pg.PoolClient) => {
  client.emit('error', new Error('the connection is lost'))
  destroyConnection(client as unknown as pg.Client)
}

/** A pool of `max` connections that survives the loss of the server, also one that vanishes without a word. */
export const newPool = (
  url: string,
  name: string,
  max: number,
  statementTimeoutMs = 30_000,
  schema?: string,
  /** What each new connection does before it is used; when it fails, so does the query that wanted the connection. */
  onConnect?: (client: pg.ClientBase) => Promise<void>,
): pg.Pool => {
  const path = schema ? { options: `-c search_path=${schema} ${COMMON}` } : {}
  const limits = { ...timeouts(statementTimeoutMs), ...path, ...(onConnect ? { onConnect } : {}) }
  const pool = new pg.Pool({ ...settings(url, name), ...limits, max, idleTimeoutMillis: idleMs(statementTimeoutMs) })
  const idle = new Set<pg.PoolClient>()
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('remove', (client) => idle.delete(client))
  pool.on('release', (error, client) => {
    if (!isUnanswered(error)) return idle.add(client)
    // Where one connection has been lost without a word, those that are as old are too: each would cost a request.
    for (const one of [...idle]) discard(one)
    return destroyConnection(client as unknown as pg.Client)
  })
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
  return /^(08|53|57|58|40|55|XX|25006|25P03|25P04)/.test(error.code ?? '08')
}

/** No room left on the disk, or the reserve is touched. */
export const isDiskFull = (error: unknown): boolean => (error as { code?: unknown }).code === '53100'
