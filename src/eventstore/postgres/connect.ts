import { createHash } from 'node:crypto'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { FairPool } from './fair-pool.ts'
import { severalHosts } from './one-host.ts'
import {
  SESSION,
  SETTING_OF_NEWER_SERVERS,
  type SessionSettings,
  optionsOf,
  readModelSession,
  takeOptions,
} from './session-settings.ts'

/** How values are parsed: int8 as bigint, json as its stored text. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === pg.types.builtins.INT8) return BigInt
    if (oid === pg.types.builtins.JSON) return (text: string) => text
    return pg.types.getTypeParser(oid, format)
  }) as typeof pg.types.getTypeParser,
}

/** How long a server may take to accept a connection, or to answer a statement about a few rows. A slower server counts as away. */
export const ANSWER_MS = 5_000

/** How long to wait beyond the statement's timeout, at which the server answers with an error; after that the network must have lost the answer. */
const GRACE_MS = 1_000

/** Whether there was no answer within a query's timeout, not even the error of the statement's timeout. */
const isUnanswered = (error: unknown) => error instanceof Error && error.message === 'Query read timeout'

/** PostgreSQL cuts the name of a prepared statement off after so many bytes. */
const MAX_NAME_BYTES = 63

/** A name that PostgreSQL keeps whole, for one that it would cut off: two long names may begin alike. */
const shortName = (name: string): string => createHash('sha256').update(name).digest('base64url')

const isLong = (name: unknown) => typeof name === 'string' && Buffer.byteLength(name) > MAX_NAME_BYTES

type Connected = (error?: Error) => void

/** A connection with `SETTING_OF_NEWER_SERVERS`, whose prepared statements may have names of any length. Its loss only makes queries fail. */
export class Connection extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    this.on('error', () => {}) // without a listener the loss would end the process
  }

  override query = ((query: pg.QueryConfig, ...rest: unknown[]) => {
    const named = isLong(query.name) ? { ...query, name: shortName(query.name!) } : query
    return (super.query as (...all: unknown[]) => unknown)(named, ...rest)
  }) as pg.Client['query']

  async #connect(): Promise<this> {
    await super.connect()
    try {
      await this.query({ text: SETTING_OF_NEWER_SERVERS, query_timeout: ANSWER_MS } as pg.QueryConfig)
    } catch (error) {
      destroyConnection(this)
      throw error
    }
    return this
  }

  override connect(): Promise<this>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<this> | void {
    const connected = this.#connect()
    if (!callback) return connected
    connected.then(() => callback(), callback)
  }
}

type ConnectionOptions = {
  /** 0 sets no timeout. */
  readonly statementTimeoutMs?: number
  /** What this connection needs beyond the settings of all. */
  readonly session?: SessionSettings
}

/**
 * The configuration of every connection of this service, of pools and single ones. What the URL says of a session is kept, except for what the
 * service relies on.
 * @throws Error if the URL has several hosts
 */
export const connectionConfig = (
  url: string,
  name: string,
  { statementTimeoutMs = 0, session = {} }: ConnectionOptions = {},
) => {
  const problem = severalHosts(url)
  if (problem) throw new Error(`the URL of PostgreSQL ${problem}`)
  const { connectionString, options } = takeOptions(url)
  const own = { ...SESSION, ...session, statement_timeout: statementTimeoutMs }
  return {
    connectionString,
    application_name: `tracebook ${name}`,
    connectionTimeoutMillis: ANSWER_MS,
    options: `${options} ${optionsOf(own)}`.trimStart(),
    ...(statementTimeoutMs === 0 ? {} : { query_timeout: statementTimeoutMs + GRACE_MS }),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
}

const connectionOf = (config: pg.ClientConfig): pg.Client => new Connection({ ...config, types })

/** A single connection. `statementTimeoutMs` 0 sets no timeout. */
export const newClient = (url: string, name: string, statementTimeoutMs = 0): pg.Client =>
  connectionOf(connectionConfig(url, name, { statementTimeoutMs }))

const REPORT_STATEMENT_MS = 1_000
const REPORT_LOCK_MS = 300

/**
 * A connection for a report on a database in use: it can only read, and gives up a statement after a second, or when it has waited 300 ms for a lock.
 * `schema` is where it looks for tables that are named without one.
 */
export const newReportClient = (url: string, name: string, schema: string): pg.Client => {
  const session = { default_transaction_read_only: 'on', lock_timeout: REPORT_LOCK_MS, search_path: schema }
  return connectionOf(connectionConfig(url, name, { statementTimeoutMs: REPORT_STATEMENT_MS, session }))
}

/** A connection for `openLeaderSession`. It pipelines, because heartbeats are sent while other statements are under way. */
export const newLeaderClient = (url: string, name: string, statementTimeoutMs: number): pg.Client =>
  connectionOf({ ...connectionConfig(url, name, { statementTimeoutMs }), pipeline: true })

/**
 * A connection that applies events to the read models of a schema. It pipelines statements, and commits asynchronously: a crash of
 * PostgreSQL may undo the last commits, and the runner applies their events again.
 */
export const newApplyingClient = (url: string, schema: string): pg.Client => {
  const session = { ...readModelSession(schema), synchronous_commit: 'off' }
  return connectionOf({ ...connectionConfig(url, `projections ${schema}`, { session }), pipeline: true })
}

/** A connection for work on the tables of a schema, whose statements may take any time. */
export const newUpkeepClient = (url: string, schema: string): pg.Client =>
  connectionOf(connectionConfig(url, `upkeep ${schema}`, { session: readModelSession(schema) }))

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
  // Only projections write read models: no query may, wherever it runs.
  const session = schema === undefined ? {} : { ...readModelSession(schema), default_transaction_read_only: 'on' }
  const config = {
    ...connectionConfig(url, name, { statementTimeoutMs, session }),
    ...(onConnect ? { onConnect } : {}),
  }
  const more = { name, Client: Connection, types, max, idleTimeoutMillis: idleMs(statementTimeoutMs) }
  const pool = new FairPool({ ...config, ...more })
  const idle = new Set<pg.PoolClient>()
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('remove', (client) => idle.delete(client))
  pool.on('release', (error, client) => {
    if (!isUnanswered(error)) return idle.add(client)
    // If one connection was lost silently, the idle ones were probably lost, too: each would fail a request.
    for (const one of [...idle]) discard(one)
    return destroyConnection(client as unknown as pg.Client)
  })
  pool.on('error', () => {})
  return pool
}

/** Kysely over a pool, for queries that are not on a hot path. */
export const kyselyOver = <Tables>(pool: pg.Pool): Kysely<Tables> =>
  new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
