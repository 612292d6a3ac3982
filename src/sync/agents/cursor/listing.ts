import type { Database } from '../support/sqlite/load.ts'
import { rememberListing } from '../support/sqlite/remember.ts'
import { columnsOf, readDatabase } from '../support/sqlite/snapshot.ts'

type Listed = { readonly id: string; readonly stamp: string }

/** Rows of more bytes are not read (README, rule 9). */
const MAX_ROW = 64 << 20

/** Whether it is a database with sessions (README, rule 1). */
export const hasTable = (database: Database): boolean => {
  const columns = columnsOf(database, 'cursorDiskKV')
  return columns.has('key') && columns.has('value')
}

/** The rows of a kind, such as `composerData`, through the index of keys. */
const rowsOf = (kind: string): string =>
  `(SELECT key, value FROM source.cursorDiskKV WHERE key >= '${kind}:' AND key < '${kind};' AND value IS NOT NULL)`

/** The SQL of a text, or of NULL when it is too large. */
export const bounded = (name: string): string =>
  `CASE WHEN octet_length(${name}) <= ${MAX_ROW} THEN CAST(${name} AS TEXT) END`

/** The bubbles of the sessions. */
const BUBBLES = `source.cursorDiskKV WHERE key >= 'bubbleId:' AND key < 'bubbleId;'`
const OWNER = `substr(key, 10, instr(substr(key, 10), ':') - 1)`

/**
 * What tells that a session's bubbles have changed. Cursor's table gives a row another number each time it is written, unless
 * it had the highest one, so that the index of keys and the size of the newest row tell it without a look at all others.
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

/** The sessions of a database that hold anything (README, rule 2). Throws what reading it throws. */
export const composerList = rememberListing(list)
