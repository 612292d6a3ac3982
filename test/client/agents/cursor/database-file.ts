import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

type Fields = Readonly<Record<string, unknown>>

const SCHEMA = `
  CREATE TABLE ItemTable(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
  CREATE TABLE cursorDiskKV(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);`

/** A database as Cursor makes it, and open: `close` it. */
export const cursorDatabase = (path: string, schema = SCHEMA) => {
  mkdirSync(dirname(path), { recursive: true })
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; ${schema}`)
  const put = (table: string) => (key: string, value: unknown) => {
    const text = typeof value === 'string' || value === null ? value : JSON.stringify(value)
    database.prepare(`INSERT INTO ${table} VALUES (?, ?)`).run(key, text)
  }
  const row = put('cursorDiskKV')
  return {
    database,
    close: () => database.close(),
    row,
    item: put('ItemTable'),
    /** A session that lists these bubbles. */
    composer: (id: string, bubbles: readonly string[], more: Fields = {}) =>
      row(`composerData:${id}`, {
        _v: 3,
        composerId: id,
        name: 'Fix the bug',
        lastUpdatedAt: 1_790_000_000_000,
        fullConversationHeadersOnly: bubbles.map((bubbleId) => ({ bubbleId, type: 2 })),
        ...more,
      }),
    bubble: (composer: string, id: string, bubble: Fields | string) =>
      row(`bubbleId:${composer}:${id}`, typeof bubble === 'string' ? bubble : { bubbleId: id, ...bubble }),
  }
}

export const typed = (text: string, more: Fields = {}) => ({ type: 1, text, ...more })

export const said = (text: string, more: Fields = {}) => ({ type: 2, text, ...more })

/** An answer that calls a tool. */
export const used = (name: string, more: Fields) => ({
  type: 2,
  text: '',
  capabilityType: 15,
  toolFormerData: { tool: 1, name, toolCallId: `call-${name}`, rawArgs: '{"command":"ls"}', ...more },
})
