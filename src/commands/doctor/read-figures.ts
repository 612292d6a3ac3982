import type pg from 'pg'
import { groups, mainGroup, searchGroup } from '../../../projections/index.ts'
import type { StatDisk } from '../../eventstore/embedded/disk.ts'
import { readCheckpoint } from '../../eventstore/engine/checkpoint.ts'
import { type Group, schemaOf } from '../../eventstore/engine/group.ts'
import { schemasOf } from '../../eventstore/engine/schema.ts'
import type { Position } from '../../eventstore/log/log.ts'
import { readHead, readNextEvents, readPositionAt } from '../../eventstore/log/postgres/times.ts'
import { newReportClient, withConnection } from '../../eventstore/postgres/connect.ts'
import { assertMigrated } from '../../eventstore/postgres/migrate.ts'
import { SqlState, hasSqlState } from '../../eventstore/postgres/sql-state.ts'
import type { Config } from '../../server/config.ts'
import { readStoredTree } from '../../server/proof/stored-tree.ts'
import { segmentsStatement } from '../../tables/search.ts'
import { assertHasSchema } from '../support/read-models.ts'
import type { Figures, GroupLag, Growth, Unseen } from './figures.ts'
import { MORE_CONNECTIONS } from './limits.ts'
import {
  type ServerSettings,
  diskOf,
  missingRights,
  quoted,
  readConnections,
  readServer,
  readWal,
} from './read-server.ts'
import { readSizes } from './read-sizes.ts'

type Client = Pick<pg.ClientBase, 'query'>

export type ReadOptions = {
  /** The database, which is that of `DATABASE_URL` or the embedded one. */
  readonly url: string
  readonly config: ServerSettings & Pick<Config, 'EVENTSTORE_URL'>
  /** The time in milliseconds. Default: now. */
  readonly now?: number
  readonly statfs?: StatDisk
}

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS

const ELSEWHERE =
  'the log is in EventStoreDB (EVENTSTORE_URL), whose servers know how it grows and what their disks hold'

/** The log, as far as it is in the database. */
type SeenLog = { readonly head: Position; readonly growth: Growth }

const readLog = async (client: Client, now: number): Promise<SeenLog> => {
  const head = await readHead(client)
  const first = await readNextEvents(client, 0n)
  const age = first ? now - first.at : 0
  if (age < DAY_MS) return { head, growth: {} }
  const since = async (ms: number) => Number(head - (await readPositionAt(client, now - ms, head)))
  const lastDay = await since(DAY_MS)
  return { head, growth: age < WEEK_MS ? { lastDay } : { lastDay, lastWeek: await since(WEEK_MS) } }
}

const hasSchema = async (client: Client, group: Group): Promise<boolean> =>
  (await schemasOf(client, group)).includes(schemaOf(group))

const readSegments = async (client: Client): Promise<number | Unseen> =>
  (await hasSchema(client, searchGroup))
    ? (await client.query(segmentsStatement)).rows.length
    : { unseen: 'the search index is not built yet' }

const readLag = async (client: Client, group: Group, head: Position, now: number): Promise<GroupLag> => {
  const { position, stopped: isStopped } = await readCheckpoint(client, schemaOf(group))
  const next = await readNextEvents(client, position)
  const ms = next ? Math.max(0, now - next.at) : 0
  return { group: group.name, events: Math.max(0, Number(head - position)), ms, isStopped }
}

const readLags = async (client: Client, head: Position, now: number): Promise<GroupLag[]> => {
  const lags: GroupLag[] = []
  for (const group of groups) if (await hasSchema(client, group)) lags.push(await readLag(client, group, head, now))
  return lags
}

const NOT_RUNNING = 'no process of the service runs'

const read = async (client: Client, options: ReadOptions): Promise<Figures> => {
  const { config, now = Date.now(), statfs } = options
  await assertMigrated(client)
  await assertHasSchema(client, mainGroup)
  const log = config.EVENTSTORE_URL === undefined ? await readLog(client, now) : undefined
  const server = await readServer(client)
  const connections = await readConnections(client, config.DATABASE_CONNECTIONS)
  const lags = log && connections.processes > 0 ? await readLags(client, log.head, now) : undefined
  return {
    events: log ? Number(log.head) : (await readStoredTree(client)).size,
    growth: log ? log.growth : { unseen: ELSEWHERE },
    sizes: (await readSizes(client)).filter(({ part }) => log !== undefined || part !== 'log'),
    disk: diskOf(server, config, statfs),
    connections,
    segments: await readSegments(client),
    lags: lags ?? { unseen: log ? NOT_RUNNING : ELSEWHERE },
    wal: await readWal(client),
    missing: missingRights(server, config),
  }
}

/** Tables in a schema that the role may not use are as if they did not exist. */
const closedSchemaStatement = `
  select nspname as name from pg_namespace where nspname = any($1) and not has_schema_privilege(oid, 'usage') order by nspname limit 1`

/** A schema that the role may not use. */
const closedSchema = async (client: Client): Promise<string | undefined> => {
  const schemas = ['log', 'tracebook', ...groups.map(schemaOf)]
  return (await client.query<{ name: string }>(closedSchemaStatement, [schemas])).rows[0]?.name
}

/** What the role may not read, and how a superuser lets it. */
const explain = async (client: Client, error: unknown): Promise<unknown> => {
  if (!hasSqlState(error, SqlState.insufficientPrivilege, SqlState.undefinedTable)) return error
  const closed = await closedSchema(client)
  if (closed === undefined && !hasSqlState(error, SqlState.insufficientPrivilege)) return error
  const { role } = await readServer(client)
  const denied = closed === undefined ? (error as Error).message : `permission denied for schema ${closed}`
  return new Error(
    `The role ${role} lacks the right pg_read_all_data (${denied}). ` +
      `As a superuser, run: grant pg_read_all_data to ${quoted(role)}. Or connect as the role of the service.`,
  )
}

/** Why a server in use cannot be examined now, and what helps. */
const explainBusy = (error: unknown): unknown => {
  const { message } = error as Error
  if (hasSqlState(error, SqlState.tooManyConnections))
    return new Error(`PostgreSQL takes no more connections (${message}). ${MORE_CONNECTIONS}`)
  if (hasSqlState(error, SqlState.lockNotAvailable, SqlState.queryCanceled))
    return new Error(
      `PostgreSQL is too busy to be examined now, or its tables are being changed (${message}). Try again later.`,
    )
  return error
}

/**
 * Reads what `limitsOf` needs from a database in use: in statements of a second at most, without a write, and without waiting for locks for long.
 * @throws Error that names the version, the schema or the right that is missing, or says that the server is too busy
 */
export const readFigures = (options: ReadOptions): Promise<Figures> =>
  withConnection(newReportClient(options.url, 'doctor', schemaOf(searchGroup)), (client) =>
    read(client, options).catch(async (error: unknown) => {
      throw await explain(client, error)
    }),
  ).catch((error: unknown) => {
    throw explainBusy(error)
  })
