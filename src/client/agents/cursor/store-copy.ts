import { createRequire } from 'node:module'
import type * as Protobuf from 'protobufjs/minimal.js'
import { type Json, parseObject, textOf } from '../support/json.ts'
import type { Database } from '../support/sqlite/load.ts'
import { bounded, columnsOf } from '../support/sqlite/snapshot.ts'

/** Loaded when the first blob is read: a sync without such sessions does not need it. */
const require = createRequire(import.meta.url)
const readerOf = (data: Uint8Array): Protobuf.Reader =>
  (require('protobufjs/minimal.js') as typeof Protobuf).Reader.create(data)

/** The state of a session, from its root blob (README, rule 13). */
type Root = {
  /** The ids of the messages, in order. */
  readonly messages: readonly string[]
  /** The `file:` address of the folder in which the agent works. */
  readonly folder: string | undefined
  readonly branch: string | undefined
}

/** A field of a protobuf message whose value is bytes. */
type Field = { readonly number: number; readonly value: Buffer }

const ID_BYTES = 32
const FIELDS = { message: 1, folder: 9, repository: 21 } as const
const REPOSITORY = { path: 1, branch: 2 } as const

/** The fields of a protobuf message that hold bytes; undefined if the data are not such a message. */
const fieldsOf = (data: Uint8Array): readonly Field[] | undefined => {
  const reader = readerOf(data)
  const fields: Field[] = []
  try {
    while (reader.pos < reader.len) {
      const tag = reader.uint32()
      if (tag % 8 === 2) fields.push({ number: tag >>> 3, value: Buffer.from(reader.bytes()) })
      else reader.skipType(tag % 8)
    }
    return fields
  } catch {
    return undefined
  }
}

const textIn = (fields: readonly Field[], number: number): string | undefined =>
  fields.find((field) => field.number === number)?.value.toString('utf8')

/** The root in the bytes of a blob; undefined if they are anything else, or name no message. */
const readRoot = (bytes: Uint8Array): Root | undefined => {
  const fields = fieldsOf(bytes)
  const messages = fields?.filter(({ number }) => number === FIELDS.message).map(({ value }) => value) ?? []
  if (!fields || messages.length === 0 || messages.some(({ length }) => length !== ID_BYTES)) return undefined
  const repository = fields.find(({ number }) => number === FIELDS.repository)
  const described = (repository && fieldsOf(repository.value)) ?? []
  return {
    messages: messages.map((id) => id.toString('hex')),
    folder: textIn(fields, FIELDS.folder),
    branch: textIn(described, REPOSITORY.path) === undefined ? undefined : textIn(described, REPOSITORY.branch),
  }
}

/** What was copied of a session besides its messages, which are in the table `messages` of the private database. */
type CopiedStore = {
  /** The tool's description of the session; empty if it cannot be read. */
  readonly meta: Json
  readonly root: Root | undefined
  /** Whether the session has a state of an unknown form. */
  readonly isUnknown: boolean
}

const DATA = bounded('data', 'BLOB')

const hasTables = (database: Database): boolean => {
  const [blobs, meta] = [columnsOf(database, 'blobs'), columnsOf(database, 'meta')]
  return blobs.has('id') && blobs.has('data') && meta.has('key') && meta.has('value')
}

/** The row that describes the session: JSON, or JSON in hexadecimal digits. */
const metaOf = (database: Database): Json => {
  const row = database.prepare(`SELECT CAST(value AS TEXT) AS value FROM source.meta WHERE key = '0'`).get()
  const text = String(row?.['value'] ?? '')
  return parseObject(Buffer.from(text, 'hex').toString('utf8')) ?? parseObject(text) ?? {}
}

const rootIn = (data: unknown): Root | undefined => (data instanceof Uint8Array ? readRoot(data) : undefined)

const rootOf = (database: Database, id: string): Root | undefined =>
  rootIn(database.prepare(`SELECT ${DATA} AS data FROM source.blobs WHERE id = ?`).get(id)?.['data'])

/** Returns a function that says whether a message is a summary of the messages before it. */
const newSummaryTest = (database: Database): ((id: string) => boolean) => {
  const isSummary = database.prepare(
    `SELECT CASE WHEN json_valid(text) THEN json_extract(text, '$.providerOptions.cursor.isSummary') END AS found
     FROM (SELECT CAST(${DATA} AS TEXT) AS text FROM source.blobs WHERE id = ?)`,
  )
  return (id) => isSummary.get(id)?.['found'] === 1
}

const hasRowNumbers = (database: Database): boolean => {
  const row = database.prepare(`SELECT sql FROM source.sqlite_master WHERE name = 'blobs'`).get()
  return !/WITHOUT\s+ROWID/i.test(String(row?.['sql']))
}

/** The roots before the latest one, in the order in which they were written. None if the table does not keep that order. */
function* rootsBefore(database: Database, latest: string): Generator<Root> {
  if (!hasRowNumbers(database)) return
  const exists = database.prepare('SELECT 1 FROM source.blobs WHERE id = ?')
  const rows = database
    .prepare(`SELECT ${DATA} AS data FROM source.blobs WHERE substr(data, 1, 2) = x'0a20' AND id <> ? ORDER BY rowid`)
    .iterate(latest)
  for (const row of rows) {
    const root = rootIn(row['data'])
    if (root && exists.get(root.messages[0]!)) yield root
  }
}

/** For each summary the last root before it, which has the messages that the summary replaces. */
const summedUp = (database: Database, latest: string, root: Root): readonly Root[] => {
  const isSummary = newSummaryTest(database)
  if (!root.messages.some(isSummary)) return []
  const found: Root[] = []
  const known = new Set<string>()
  let before: Root | undefined
  const look = (next: Root): void => {
    const added = next.messages.filter((id) => !known.has(id))
    if (before && added.some(isSummary)) found.push(before)
    for (const id of added) known.add(id)
    before = next
  }
  for (const next of rootsBefore(database, latest)) look(next)
  look(root)
  return found
}

/** A message of a session: its blob, and the number of messages up to it that have the same blob. */
type Listed = { readonly id: string; readonly repetition: number }

/** All messages of some roots, in order. Messages that several roots have are listed once. */
const listedIn = (roots: readonly Root[]): readonly Listed[] => {
  const listed = new Map<string, Listed>()
  for (const { messages } of roots) {
    const repetitions = new Map<string, number>()
    for (const id of messages) {
      const repetition = (repetitions.get(id) ?? 0) + 1
      repetitions.set(id, repetition)
      if (!listed.has(`${id} ${repetition}`)) listed.set(`${id} ${repetition}`, { id, repetition })
    }
  }
  return [...listed.values()]
}

/** The latest state of a session. `root` is undefined if there is none, or if it has an unknown form. */
const latestOf = (database: Database) => {
  if (!hasTables(database)) return { meta: {}, latest: '', root: undefined }
  const meta = metaOf(database)
  const latest = textOf(meta['latestRootBlobId']) ?? ''
  return { meta, latest, root: rootOf(database, latest) }
}

/** Copies the messages of a session into a table of the private database (README, rules 1 and 13). */
export const copyStore = (database: Database): CopiedStore => {
  database.exec('CREATE TABLE messages(number INTEGER PRIMARY KEY, id, data)')
  const { meta, latest, root } = latestOf(database)
  if (!root) return { meta, root, isUnknown: latest !== '' }
  const insert = database.prepare(
    `INSERT INTO messages VALUES (?, ?, (SELECT CAST(${DATA} AS TEXT) FROM source.blobs WHERE id = ?))`,
  )
  const roots = [...summedUp(database, latest, root), root]
  for (const [index, { id, repetition }] of listedIn(roots).entries())
    insert.run(index + 1, repetition === 1 ? id : `${id}-${repetition}`, id)
  return { meta, root, isUnknown: false }
}

/** Whether the session in a database has a message that can be read, or no message yet. */
export const isKnownIn = (database: Database): boolean => {
  const { latest, root } = latestOf(database)
  if (!root) return latest === ''
  const isMessage = database.prepare(`SELECT json_valid(CAST(${DATA} AS TEXT)) AS valid FROM source.blobs WHERE id = ?`)
  return root.messages.some((id) => isMessage.get(id)?.['valid'] === 1)
}
