import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { FairPool } from './fair-pool.ts'
import { severalHosts } from './one-host.ts'

/** How values are parsed: int8 as bigint, json as its stored text. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === pg.types.builtins.INT8) return BigInt
    if (oid === pg.types.builtins.JSON) return (text: string) => text
    return pg.types.getTypeParser(oid, format)
  }) as typeof pg.types.getTypeParser,
}

/**
 * All queries of this service look rows up by index. Prepared plans are kept as long as a connection, and a plan that was made
 * while a table was empty would still scan the whole table once it is full: so the planner must not choose such scans and joins.
 */
const INDEX_PLANS = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off'

/**
 * Lets a connection plan each statement over read models only once. By default PostgreSQL would plan it again for each page of a
 * list, to see how few rows the values ask for; but the plan is the same for all values, because the SQL determines which indexes
 * are read. For a single message, planning would take PostgreSQL longer than writing.
 */
const ONE_PLAN = '-c plan_cache_mode=force_generic_plan'

/** If a machine has vanished from the network, the server ends its sessions within half a minute, and so releases their locks. */
const KEEPALIVES = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'

/** If a process freezes within a transaction, the server ends its session after ten seconds, and so releases its locks. */
const IDLE_TRANSACTIONS = '-c idle_in_transaction_session_timeout=10000'

/** Keeps parameters, which are texts of users, out of the errors in the server's log. (`error-verbosity.ts` keeps out rows.) */
const NO_PARAMETERS_IN_LOG = '-c log_parameter_max_length_on_error=0'

const COMMON = `${INDEX_PLANS} ${KEEPALIVES} ${IDLE_TRANSACTIONS} ${NO_PARAMETERS_IN_LOG}`

/** How long a server may take to accept a connection, or to answer a statement about a few rows. A slower server counts as away. */
export const ANSWER_MS = 5_000

/** How long to wait beyond the statement's timeout, at which the server answers with an error; after that the network must have lost the answer. */
const GRACE_MS = 1_000

const timeouts = (ms: number) => (ms === 0 ? {} : { statement_timeout: ms, query_timeout: ms + GRACE_MS })

/** Whether there was no answer within a query's timeout, not even the error of the statement's timeout. */
const isUnanswered = (error: unknown) => error instanceof Error && error.message === 'Query read timeout'

/** @throws Error if the URL has several hosts */
const settings = (url: string, name: string): pg.ClientConfig => {
  const problem = severalHosts(url)
  if (problem) throw new Error(`the URL of PostgreSQL ${problem}`)
  return {
    connectionString: url,
    application_name: `tracebook ${name}`,
    types,
    connectionTimeoutMillis: ANSWER_MS,
    options: COMMON,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
}

/** Without a listener the loss of the connection would end the process; queries on it fail anyway. */
const survivesLoss = (client: pg.Client): pg.Client => client.on('error', () => {})

/** A single connection. `statementTimeoutMs` 0 sets no timeout. */
export const newClient = (url: string, name: string, statementTimeoutMs = 0): pg.Client =>
  survivesLoss(new pg.Client({ ...settings(url, name), ...timeouts(statementTimeoutMs) }))

/** A connection for `openLeaderSession`. It pipelines, because heartbeats are sent while other statements are under way. */
export const newLeaderClient = (url: string, name: string, statementTimeoutMs: number): pg.Client =>
  survivesLoss(new pg.Client({ ...settings(url, name), ...timeouts(statementTimeoutMs), pipeline: true }))

/**
 * A connection that applies events to the read models of a schema. It pipelines statements, and commits asynchronously: a crash of
 * PostgreSQL may undo the last commits, and the runner applies their events again.
 */
export const newApplyingClient = (url: string, schema: string): pg.Client => {
  const options = `-c search_path=${schema} -c synchronous_commit=off ${ONE_PLAN} ${COMMON}`
  return survivesLoss(new pg.Client({ ...settings(url, `projections ${schema}`), pipeline: true, options }))
}

/** Closes a connection at once, without the server's part: its pending queries fail. */
export const destroyConnection = (client: pg.Client): void => {
  const { connection } = client as pg.Client & { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}

/** Closes a connection; waits for the server for at most a second. */
export const closeConnection = async (client: pg.Client): Promise<void> => {
  const timeout = setTimeout(destroyConnection, 1_000, client)
  await client.end().catch(() => {})
  clearTimeout(timeout)
}

/** Connects a client for `work`, and closes it then. @throws what connecting throws */
export const withConnection = async <T>(client: pg.Client, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  try {
    await client.connect()
    return await work(client)
  } finally {
    await closeConnection(client)
  }
}

/** If a connection was lost while idle, a query on it without a timeout would wait for ever: so idle connections of such pools are closed soon. */
const idleMs = (statementTimeoutMs: number) => (statementTimeoutMs === 0 ? 1_000 : 60_000)

/** Closes a connection of a pool. An error makes the pool forget an idle connection at once; the end of the connection does so only later. */
const discard = (client: pg.PoolClient) => {
  client.emit('error', new Error('the connection is lost'))
  destroyConnection(client as unknown as pg.Client)
}

const openIn = new WeakMap<pg.Pool, Set<pg.PoolClient>>()

/** Closes the open connections of a pool: they may lead to the former server of a failover, if that continues to run. */
export const leaveServer = (pool: pg.Pool): void => {
  for (const client of [...(openIn.get(pool) ?? [])]) discard(client)
}

type PoolOptions = {
  readonly url: string
  /** The server's list of connections shows them as `tracebook {name}`. */
  readonly name: string
  /** The most connections that are open at once. */
  readonly max: number
  /** 0 sets no timeout. Default: 30 seconds. */
  readonly statementTimeoutMs?: number
  /** The PostgreSQL schema of the read models that are queried. */
  readonly schema?: string
  /** Called with each new connection before it is used. If it rejects, the query that needs the connection fails with its error. */
  readonly onConnect?: (client: pg.ClientBase) => Promise<void>
}

/** A pool of connections that survives the loss of the server, even if the network drops packets silently. Clients take turns. */
export const newPool = (options: PoolOptions): FairPool => {
  const { url, name, max, statementTimeoutMs = 30_000, schema, onConnect } = options
  const path = schema ? { options: `-c search_path=${schema} ${ONE_PLAN} ${COMMON}` } : {}
  const limits = { ...timeouts(statementTimeoutMs), ...path, ...(onConnect ? { onConnect } : {}) }
  const more = { name, max, idleTimeoutMillis: idleMs(statementTimeoutMs) }
  const pool = new FairPool({ ...settings(url, name), ...limits, ...more })
  const idle = new Set<pg.PoolClient>()
  const open = new Set<pg.PoolClient>()
  openIn.set(pool, open)
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('remove', (client) => {
    idle.delete(client)
    open.delete(client)
  })
  pool.on('release', (error, client) => {
    if (!isUnanswered(error)) return idle.add(client)
    // If one connection was lost silently, the idle ones were probably lost, too: each would fail a request.
    for (const one of [...idle]) discard(one)
    return destroyConnection(client as unknown as pg.Client)
  })
  pool.on('error', () => {})
  // The pool does not listen to errors of a connection that is in use; without a listener they would end the process.
  pool.on('connect', (client) => open.add(client.on('error', () => {})))
  return pool
}

/** Kysely over a pool, for queries that are not on a hot path. */
export const kyselyOver = <Tables>(pool: pg.Pool): Kysely<Tables> =>
  new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
