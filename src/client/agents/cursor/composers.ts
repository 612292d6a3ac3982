import type { SessionMessage, StoredSession } from '../agent.ts'
import { acceptedId, newLineIds } from '../support/external-ids.ts'
import { inOneFile } from '../support/files.ts'
import { type Json, objectOf, objectsIn, parseObject, textOf } from '../support/json.ts'
import { withoutBinary } from '../support/media.ts'
import { type OnDamaged, type OnUnknown, sessionOfCopy } from '../support/session-of-messages.ts'
import type { Database } from '../support/sqlite/load.ts'
import { rememberListing } from '../support/sqlite/remember.ts'
import { bounded, columnsOf, copyFromDatabase, readDatabase } from '../support/sqlite/snapshot.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { type Bubble, messageOf, toolsOf } from './bubbles.ts'
import { projectOf, type Projects, projectsOf } from './workspaces.ts'

type Listed = { readonly id: string; readonly stamp: string }

/** Whether a database has the table with sessions (README, rule 1). */
const hasTable = (database: Database): boolean => {
  const columns = columnsOf(database, 'cursorDiskKV')
  return columns.has('key') && columns.has('value')
}

/** The rows of a kind, such as `composerData`, by the index of keys. */
const rowsOf = (kind: string): string =>
  `(SELECT key, value FROM source.cursorDiskKV WHERE key >= '${kind}:' AND key < '${kind};' AND value IS NOT NULL)`

/** The bubbles of the sessions. */
const BUBBLES = `source.cursorDiskKV WHERE key >= 'bubbleId:' AND key < 'bubbleId;'`
const OWNER = `substr(key, 10, instr(substr(key, 10), ':') - 1)`

/**
 * For each session a text that differs once its bubbles have changed. Cursor's table gives a row a new number each time that it is
 * written, unless the row had the highest one. So the index of keys and the size of the newest row suffice, and no other row is read.
 */
const changesSql = (database: Database): string => {
  const { sql } = database.prepare(`SELECT sql FROM source.sqlite_master WHERE name = 'cursorDiskKV'`).get() ?? {}
  return /ON CONFLICT REPLACE/i.test(String(sql))
    ? `SELECT id, printf('%s %s %s', n, newest, octet_length(value)) AS changes
       FROM (SELECT ${OWNER} AS id, count(*) AS n, max(rowid) AS newest FROM ${BUBBLES} GROUP BY 1)
       JOIN source.cursorDiskKV ON cursorDiskKV.rowid = newest`
    : `SELECT ${OWNER} AS id, printf('%s %s', count(*), sum(octet_length(value))) AS changes FROM ${BUBBLES} GROUP BY 1`
}

const listSql = (database: Database): string => `
  SELECT composer.id AS id, printf('%s %s %s', composer.updated, composer.size, changes) AS stamp
  FROM (
    SELECT substr(key, 14) AS id, octet_length(value) AS size,
      CASE WHEN json_valid(text) THEN json_extract(text, '$.lastUpdatedAt') END AS updated,
      CASE WHEN json_valid(text) THEN coalesce(json_array_length(text, '$.fullConversationHeadersOnly'), 0)
        + coalesce(json_array_length(text, '$.conversation'), 0) END AS listed
    FROM (SELECT key, value, ${bounded('value')} AS text FROM ${rowsOf('composerData')})
  ) composer
  LEFT JOIN (${changesSql(database)}) bubble ON bubble.id = composer.id
  WHERE coalesce(listed, 1) > 0 AND composer.id <> ''
  ORDER BY composer.id`

const list = (path: string): Promise<readonly Listed[]> =>
  readDatabase(path, (database) =>
    hasTable(database)
      ? database
          .prepare(listSql(database))
          .all()
          .map(({ id, stamp }) => ({ id: String(id), stamp: String(stamp) }))
      : [],
  )

/** The sessions of a database, without empty ones (README, rule 2). Throws what reading the database throws. */
export const composerList = rememberListing(list)

/** Copies the bubbles of a session into a table of the private database, and returns the text of the session's row. */
const copyComposer = (database: Database, id: string): unknown => {
  database.exec('CREATE TABLE bubbles(id PRIMARY KEY, data) WITHOUT ROWID')
  if (!hasTable(database)) return undefined
  const prefix = `bubbleId:${id}:`
  database
    .prepare(
      `INSERT OR REPLACE INTO bubbles SELECT substr(key, ?), ${bounded('value')} FROM source.cursorDiskKV
       WHERE key >= ? AND key < ? AND value IS NOT NULL`,
    )
    .run(prefix.length + 1, prefix, `bubbleId:${id};`)
  const row = database
    .prepare(`SELECT ${bounded('value')} AS data FROM source.cursorDiskKV WHERE key = ? AND value IS NOT NULL`)
    .get(`composerData:${id}`)
  return row && (row['data'] ?? '')
}

const WHAT_ROWS_HAVE = ['text', 'thinking', 'timingInfo', 'modelInfo', 'toolFormerData', 'createdAt']

/** A bubble as the session lists it, completed by the bubble's own row (README, rule 3). */
const merged = (listed: Json, row: Json): Json => {
  if (typeof listed['text'] !== 'string' && listed['thinking'] === undefined) return { ...listed, ...row }
  const added = WHAT_ROWS_HAVE.filter((name) => row[name] !== undefined && row[name] !== null && row[name] !== '')
  return { ...listed, ...Object.fromEntries(added.map((name) => [name, row[name]])) }
}

/** The bubbles as the session lists them, each once. */
const listedBubbles = (composer: Json): readonly Json[] => {
  const { fullConversationHeadersOnly: headers, conversation } = composer
  const bubbles = objectsIn(Array.isArray(headers) && headers.length > 0 ? headers : conversation)
  return [...new Map(bubbles.map((bubble, index) => [textOf(bubble['bubbleId']) ?? index, bubble])).values()]
}

function* bubblesIn(database: Database, composer: Json, onDamaged: OnDamaged): Generator<Bubble> {
  const select = database.prepare('SELECT data FROM bubbles WHERE id = ?')
  const idOf = newLineIds()
  for (const [index, listed] of listedBubbles(composer).entries()) {
    const number = index + 1
    if (objectOf(listed['grouping'])['isRenderable'] === false) continue
    const id = textOf(listed['bubbleId']) ?? idOf(JSON.stringify(withoutBinary(listed)))
    const row = select.get(id)
    const json = row && typeof row['data'] === 'string' ? parseObject(row['data']) : undefined
    if (row && !json) onDamaged(number)
    yield { id, number, json: json ? merged(listed, json) : listed }
  }
}

function* messagesIn(
  database: Database,
  composer: Json,
  { onDamaged, onUnknown }: { readonly onDamaged: OnDamaged; readonly onUnknown: OnUnknown },
): Generator<SessionMessage> {
  const tools = toolsOf(composer)
  for (const bubble of bubblesIn(database, composer, onDamaged)) {
    const { type } = bubble.json
    if (type !== 1 && type !== 2) onUnknown(`bubble-${String(type)}`)
    const message = messageOf(bubble, composer, tools)
    if (message) yield message
  }
}

/** The object in a session's row; undefined if the row is missing or damaged. */
const composerOf = (data: unknown): Json | undefined => (typeof data === 'string' ? parseObject(data) : undefined)

const readComposer =
  (agentId: string, path: string, id: string, projects: Projects): StoredSession['read'] =>
  ({ onMalformed }) =>
    sessionOfCopy(
      {
        externalId: acceptedId(id, 'session'),
        copy: () => copyFromDatabase(path, (database) => copyComposer(database, id)),
        messages: ({ database, result }, onDamaged, onUnknown) => {
          const composer = composerOf(result)
          if (result !== undefined && !composer) onDamaged(1)
          return messagesIn(database, composer ?? {}, { onDamaged, onUnknown })
        },
        trace: async (outline, result) => {
          const composer = composerOf(result) ?? {}
          return traceFieldsOf(agentId, {
            title: textOf(composer['name']) ?? outline.title(),
            projectPath: await projectOf(path, id, composer, projects),
            model: outline.model(),
          })
        },
      },
      onMalformed,
    )

/** The sessions of a database. Each one is copied when it is read, and all that is copied is of one moment. */
export async function* composerSessions(agentId: string, path: string): AsyncGenerator<StoredSession> {
  const projects = projectsOf(path)
  for (const { id, stamp } of await composerList.latest(path))
    yield { ...inOneFile(`${path}#${id}`, stamp), read: readComposer(agentId, path, id, projects) }
}
