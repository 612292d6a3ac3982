import type { Session, SessionMessage, StoredSession } from '../agent.ts'
import { acceptedId, newLineIds } from '../support/external-ids.ts'
import { type Json, objectOf, objectsIn, parseObject, textOf } from '../support/json.ts'
import { withoutBinary } from '../support/media.ts'
import { newOutline } from '../support/outline.ts'
import { countSkipped } from '../support/skipped-lines.ts'
import { copiedMessages } from '../support/sqlite/copied-messages.ts'
import type { Database } from '../support/sqlite/load.ts'
import { copyFromDatabase } from '../support/sqlite/snapshot.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { type Bubble, messageOf, toolsOf } from './bubbles.ts'
import { bounded, composerList, hasTable } from './listing.ts'
import { type Projects, projectOf, projectsOf } from './workspaces.ts'

/** Copies the bubbles of a session into a table of the private database, and gives the text of the session's row. */
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

type OnDamaged = (bubble: number) => void

const WHAT_ROWS_HAVE = ['text', 'thinking', 'timingInfo', 'modelInfo', 'toolFormerData', 'createdAt']

/** What a bubble's row adds to the bubble as the session lists it (README, rule 3). */
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

function* messagesIn(database: Database, composer: Json, onDamaged: OnDamaged): Generator<SessionMessage> {
  const tools = toolsOf(composer)
  for (const bubble of bubblesIn(database, composer, onDamaged)) {
    const message = messageOf(bubble, composer, tools)
    if (message) yield message
  }
}

/** What of a session's row the messages are made of. */
const composerOf = (data: unknown): Json | undefined => (typeof data === 'string' ? parseObject(data) : undefined)

const readComposer =
  (agentId: string, path: string, id: string, projects: Projects): StoredSession['read'] =>
  async ({ onMalformed }): Promise<Session> => {
    const skipped = countSkipped(onMalformed)
    const copy = () => copyFromDatabase(path, (source) => copyComposer(source, id))
    const copied = await copy()
    const composer = composerOf(copied.result)
    if (copied.result !== undefined && !composer) skipped.onMalformed(1)
    const outline = newOutline()
    for (const message of messagesIn(copied.database, composer ?? {}, skipped.onMalformed)) outline.note(message)
    return {
      externalId: acceptedId(id, 'session'),
      trace: traceFieldsOf(agentId, {
        title: textOf(composer?.['name']) ?? outline.title(),
        projectPath: await projectOf(path, id, composer ?? {}, projects),
        model: outline.model(),
      }),
      skippedLines: skipped.lines,
      messages: copiedMessages(copied, copy, ({ database, result }) =>
        messagesIn(database, composerOf(result) ?? {}, () => {}),
      ),
    }
  }

/** The sessions of a database. Each is copied at one moment when it is read. */
export async function* composerSessions(agentId: string, path: string): AsyncGenerator<StoredSession> {
  const projects = projectsOf(path)
  for (const { id, stamp } of await composerList.latest(path))
    yield { source: `${path}#${id}`, stamp, read: readComposer(agentId, path, id, projects) }
}
