import type pg from 'pg'

/** The server of `DATABASE_URL` cannot be used, and never will be as it is. The message says what to do. */
export class UnsuitableServer extends Error {
  override readonly name = 'UnsuitableServer'

  constructor(message: string) {
    super(`DATABASE_URL: ${message}`)
  }
}

const MIN_VERSION = 14

/** What a database must be like, as the server says it. */
export type Suitability = {
  /** The version as a number, such as 150018. */
  readonly number: number
  readonly version: string
  readonly database: string
  readonly role: string
  readonly encoding: string
  /** A setting that every connection sends, as it has arrived. */
  readonly seqscan: string
}

const suitability = `
  select current_setting('server_version_num')::int4 as number, current_setting('server_version') as version,
    current_database() as database, session_user as role, current_setting('server_encoding') as encoding,
    current_setting('enable_seqscan') as seqscan`

/** Why a database cannot be used, and what to do; undefined if it can. */
export const unsuitable = ({ number, version, database, role, encoding, seqscan }: Suitability): string | undefined => {
  if (number < MIN_VERSION * 10_000)
    return `the server is PostgreSQL ${version}, but ${MIN_VERSION} or later is needed: upgrade it`
  if (encoding !== 'UTF8') {
    const create = `createdb --template=template0 --encoding=UTF8 --locale=C --owner='${role}' '${database}_utf8'`
    return `the database ${database} has the encoding ${encoding}, but UTF8 is needed: create another one with "${create}", and name that one`
  }
  if (seqscan !== 'off')
    return 'what the service sends with each connection (the parameter "options") does not arrive: connect to PostgreSQL itself, not to a pooler'
  return undefined
}

type Query = (text: string) => Promise<{ readonly rows: readonly unknown[] }>

/** @throws UnsuitableServer */
export const assertSuitable = async (query: Query): Promise<void> => {
  const problem = unsuitable((await query(suitability)).rows[0] as Suitability)
  if (problem) throw new UnsuitableServer(problem)
}

/** What only a server can be told, and how many more connections it takes. */
export type ServerState = {
  readonly free: number
  /** Whether a commit that is acknowledged is on its disk. */
  readonly isDurable: boolean
  readonly autovacuum: boolean
  /** Whether the server writes statements with the values of their parameters into its log. */
  readonly logsValues: boolean
}

/** The fewest of what the server, the database and the role may still have; connections of this statement do not count. */
const serverState = `
  select least(
      current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4
        - coalesce(current_setting('reserved_connections', true)::int4, 0)
        - (select coalesce(sum(numbackends), 0) from pg_stat_database),
      (select d.datconnlimit - s.numbackends from pg_database d join pg_stat_database s on s.datid = d.oid
       where d.datname = current_database() and d.datconnlimit >= 0),
      (select r.rolconnlimit - (select count(*) from pg_stat_activity a where a.usesysid = r.oid) from pg_roles r
       where r.rolname = session_user and r.rolconnlimit >= 0)
    )::int4 + 1 as free,
    current_setting('fsync') = 'on' and current_setting('synchronous_commit') <> 'off' as "isDurable",
    current_setting('autovacuum') = 'on' and current_setting('track_counts') = 'on' as autovacuum,
    current_setting('log_parameter_max_length') <> '0' and (
      current_setting('log_statement') in ('mod', 'all') or current_setting('log_min_duration_statement') <> '-1'
      or current_setting('log_min_duration_sample') <> '-1'
    ) as "logsValues"`

/** What an operator should change on a server that can be used, one sentence each. */
export const warningsOf = ({ free, isDurable, autovacuum, logsValues }: ServerState, connections: number): string[] => [
  ...(free < connections
    ? [
        `PostgreSQL takes only ${free} more connections, but this process may open ${connections} (DATABASE_CONNECTIONS): ` +
          'raise max_connections, or lower DATABASE_CONNECTIONS; otherwise requests fail when there is much to do',
      ]
    : []),
  ...(isDurable
    ? []
    : [
        'fsync or synchronous_commit is off on the PostgreSQL server, so that a crash may lose what was acknowledged: a log there takes ' +
          'no writes. Switch both on',
      ]),
  ...(autovacuum
    ? []
    : ['autovacuum is off on the PostgreSQL server: lists will become slow. Switch autovacuum and track_counts on']),
  ...(logsValues
    ? [
        'the PostgreSQL server writes what people upload into its log, and a deletion does not reach it: set log_statement to none and ' +
          'log_min_duration_statement to -1, or log_parameter_max_length to 0',
      ]
    : []),
]

export const readServerState = async (client: Pick<pg.ClientBase, 'query'>): Promise<ServerState> =>
  (await client.query<ServerState>(serverState)).rows[0]!
