import { digest } from '../../digest.ts'
import type { StoredSession } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { inOneFile } from '../support/files.ts'
import { type Json, parseObject } from '../support/json.ts'
import { type OnDamaged, sessionOfCopy } from '../support/session-of-messages.ts'
import type { Database } from '../support/sqlite/load.ts'
import { rememberListing } from '../support/sqlite/remember.ts'
import { bounded, columnsOf, copyFromDatabase, readDatabase } from '../support/sqlite/snapshot.ts'
import { originOf } from './forks.ts'
import type { StoredMessage } from './messages.ts'
import { callThatStarted, messagesOf, type SessionInfo, traceOf } from './session.ts'

/** The id of a session, and a text that differs once it may have changed. */
type Listed = { readonly id: string; readonly stamp: string }

const NEEDED = { session: ['id'], message: ['id', 'session_id', 'data'], part: ['id', 'message_id', 'data'] } as const

const hasTables = (database: Database): boolean =>
  Object.entries(NEEDED).every(([table, names]) => {
    const columns = columnsOf(database, table)
    return names.every((name) => columns.has(name))
  })

/** The SQL of a column, or `NULL` where this version of opencode has no column of that name. */
const column = (columns: ReadonlySet<string>, table: string, name: string): string =>
  columns.has(name) ? `${table}.${name}` : 'NULL'

/** For each session the time of the latest change, and the number of its messages or parts. */
const changesSql = (database: Database, table: 'message' | 'part'): string => {
  const columns = columnsOf(database, table)
  const rows =
    columns.has('session_id') || table === 'message'
      ? `source.${table} t`
      : `source.part t JOIN (SELECT id AS owner, session_id FROM source.message) ON owner = t.message_id`
  return `SELECT session_id, max(${column(columns, 't', 'time_updated')}) AS last, count(*) AS n FROM ${rows} GROUP BY session_id`
}

const listSql = (database: Database): string => {
  const [session, project] = [columnsOf(database, 'session'), columnsOf(database, 'project')]
  const owned = session.has('project_id') && project.has('id') && project.has('time_updated')
  const times = [column(session, 's', 'time_updated'), owned ? 'p.time_updated' : 'NULL', 'm.last', 't.last']
  return `
    SELECT s.id AS id,
      printf('%s %s %s', max(${times.map((time) => `coalesce(${time}, 0)`).join(', ')}), coalesce(m.n, 0), coalesce(t.n, 0)) AS stamp,
      CAST(${column(session, 's', 'revert')} AS TEXT) AS revert
    FROM source.session s
    ${owned ? 'LEFT JOIN source.project p ON p.id = s.project_id' : ''}
    LEFT JOIN (${changesSql(database, 'message')}) m ON m.session_id = s.id
    LEFT JOIN (${changesSql(database, 'part')}) t ON t.session_id = s.id
    WHERE typeof(s.id) = 'text'
    ORDER BY s.id`
}

const list = (path: string): Promise<readonly Listed[]> =>
  readDatabase(path, (database) => {
    if (!hasTables(database)) return []
    return database
      .prepare(listSql(database))
      .all()
      .map(({ id, stamp, revert }) => ({
        id: String(id),
        stamp: typeof revert === 'string' ? `${String(stamp)} ${digest(revert)}` : String(stamp),
      }))
  })

/** The sessions of a database (README, rule 2). Throws what reading it throws. */
export const sessionList = rememberListing(list)

const parsed = (data: unknown): Json | undefined => (typeof data === 'string' ? parseObject(data) : undefined)

/** The call that has started a session, in its parent. */
const parentCallOf = (database: Database, id: string, parent: string): string | undefined => {
  const rows = database
    .prepare(
      `SELECT ${bounded('data')} AS data FROM source.part
       WHERE message_id IN (SELECT id FROM source.message WHERE session_id = ?) AND instr(data, ?) > 0`,
    )
    .all(parent, id)
  return rows.map(({ data }) => callThatStarted(id, parsed(data) ?? {})).find((call) => call !== undefined)
}

const infoOf = (database: Database, id: string, row: Json | undefined): SessionInfo => {
  const text = (name: string) => (typeof row?.[name] === 'string' ? row[name] : undefined)
  const parent = text('parent_id')
  return {
    id,
    title: text('title'),
    directory: text('directory'),
    repository: text('worktree'),
    revert: parseObject(text('revert') ?? ''),
    parent,
    parentCall: parent === undefined ? undefined : parentCallOf(database, id, parent),
    origin: parent === undefined ? originOf(database, id) : undefined,
  }
}

/** The folder of a session's repository, as its project has it (README, rule 11). */
const worktreeSql = (database: Database): string => {
  const [session, project] = [columnsOf(database, 'session'), columnsOf(database, 'project')]
  const isKnown = session.has('project_id') && project.has('id') && project.has('worktree')
  const worktree = '(SELECT CAST(p.worktree AS TEXT) FROM source.project p WHERE p.id = s.project_id)'
  return `${isKnown ? worktree : 'NULL'} AS worktree`
}

/** Copies what belongs to a session into tables of the private database (README, rules 1, 4 and 9). */
const copySession = (database: Database, id: string): SessionInfo => {
  const session = columnsOf(database, 'session')
  const message = columnsOf(database, 'message')
  database.exec('CREATE TABLE messages(id, data); CREATE TABLE parts(message_id, id, data)')
  database
    .prepare(
      `INSERT INTO messages SELECT id, ${bounded('data')} FROM source.message WHERE session_id = ?
       ORDER BY ${message.has('time_created') ? 'time_created, id' : 'id'}`,
    )
    .run(id)
  database
    .prepare(
      `INSERT INTO parts SELECT message_id, id, ${bounded('data')} FROM source.part
       WHERE message_id IN (SELECT id FROM source.message WHERE session_id = ?)`,
    )
    .run(id)
  database.exec('CREATE INDEX parts_by_message ON parts(message_id, id)')
  const texts = ['title', 'directory', 'revert', 'parent_id'].map(
    (name) => `CAST(${column(session, 's', name)} AS TEXT) AS ${name}`,
  )
  return infoOf(
    database,
    id,
    database
      .prepare(`SELECT ${texts.join(', ')}, ${worktreeSql(database)} FROM source.session s WHERE s.id = ?`)
      .get(id),
  )
}

/** The messages in the tables of `copySession`, one after the other. */
async function* messagesIn(database: Database, onDamaged: OnDamaged): AsyncGenerator<StoredMessage> {
  const selectParts = database.prepare('SELECT id, data FROM parts WHERE message_id = ? ORDER BY id')
  const selectMessages = database.prepare('SELECT CAST(id AS TEXT) AS id, data FROM messages ORDER BY rowid')
  let number = 0
  for (const { id, data } of selectMessages.iterate()) {
    number++
    const info = parsed(data)
    if (!info) {
      onDamaged(number)
      continue
    }
    const parts = []
    for (const row of selectParts.iterate(String(id))) {
      const json = parsed(row['data'])
      if (json) parts.push({ id: String(row['id']), json })
      else onDamaged(number)
    }
    yield { id: String(id), number, info, parts }
  }
}

const readSession =
  (agentId: string, path: string, id: string): StoredSession['read'] =>
  ({ onMalformed }) =>
    sessionOfCopy(
      {
        externalId: acceptedId(id, 'session'),
        copy: () => copyFromDatabase(path, (database) => copySession(database, id)),
        messages: ({ database, result }, onDamaged, onUnknown) =>
          messagesOf(messagesIn(database, onDamaged), result, onUnknown),
        trace: (outline, info) => traceOf(agentId, info, outline),
      },
      onMalformed,
    )

/** The sessions of a database. Each one is copied when it is read, and all that is copied is of one moment. */
export async function* databaseSessions(agentId: string, path: string): AsyncGenerator<StoredSession> {
  for (const { id, stamp } of await sessionList.latest(path))
    yield { ...inOneFile(`${path}#${id}`, stamp), read: readSession(agentId, path, id) }
}
