import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

type Fields = Readonly<Record<string, unknown>>

const SCHEMA =
  'CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)'

const varint = (value: number): readonly number[] =>
  value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))]

/** A field of a protobuf message that holds bytes, or a text. */
export const field = (number: number, value: Buffer | string): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes])
}

/** A field that holds a number. */
export const numberField = (number: number, value: number): Buffer =>
  Buffer.from([...varint(number * 8), ...varint(value)])

/** A database as the command line tool makes it, and open: `close` it. */
export const cursorStore = (path: string, schema = SCHEMA) => {
  mkdirSync(dirname(path), { recursive: true })
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; ${schema}`)
  const blob = (data: Buffer | string): string => {
    const bytes = Buffer.from(data)
    const id = createHash('sha256').update(bytes).digest('hex')
    database.prepare('INSERT OR IGNORE INTO blobs VALUES (?, ?)').run(id, bytes)
    return id
  }
  const message = (role: string, content: unknown, more: Fields = {}): string =>
    blob(JSON.stringify({ role, content, ...more }))
  /** A state that lists these messages; `more` are other fields of it. */
  const root = (ids: readonly string[], ...more: readonly Buffer[]): string =>
    blob(Buffer.concat([...ids.map((id) => field(1, Buffer.from(id, 'hex'))), ...more]))
  const meta = (latestRootBlobId: string, more: Fields = {}): void => {
    const json = JSON.stringify({ agentId: 'a', latestRootBlobId, name: 'New Agent', mode: 'default', ...more })
    database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run('0', Buffer.from(json).toString('hex'))
  }
  return { database, blob, message, root, meta, close: () => database.close() }
}

export const text = (value: string) => ({ type: 'text', text: value })

export const query = (value: string) => text(`<user_query>\n${value}\n</user_query>`)

/** What Cursor notes beside what was said. */
export const noted = (cursor: Fields) => ({ providerOptions: { cursor } })
