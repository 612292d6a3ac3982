import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { SessionMessage, StoredSession } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { inOneFile } from '../support/files.ts'
import { type Json, parseObject, textOf } from '../support/json.ts'
import { type OnDamaged, type OnUnknown, sessionOfCopy } from '../support/session-of-messages.ts'
import { lookAtFiles } from '../support/sqlite/files.ts'
import type { Database } from '../support/sqlite/load.ts'
import { rememberListing } from '../support/sqlite/remember.ts'
import { copyFromDatabase, readDatabase } from '../support/sqlite/snapshot.ts'
import { newToolCalls } from '../support/tool-calls.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { composerList } from './composers.ts'
import { databasesOfStore } from './places.ts'
import { copyStore, isKnownIn } from './store-copy.ts'
import { messageOfStore, unknownIn } from './store-messages.ts'
import { pathOf } from './workspaces.ts'

const idOf = (path: string): string => basename(dirname(path))

/** The file in which the tool describes the session, beside its database. */
const besideOf = (path: string): string => join(dirname(path), 'meta.json')

/** The names of sessions that were not given one. */
const DEFAULT_NAMES: readonly unknown[] = ['New Agent', 'New Chat', 'Untitled']

const nameIn = (...names: readonly unknown[]): string | undefined =>
  names.map(textOf).find((name) => name !== undefined && !DEFAULT_NAMES.includes(name))

/** The messages in the private database. */
function* messagesIn(database: Database, onDamaged: OnDamaged, onUnknown: OnUnknown): Generator<SessionMessage> {
  const calls = newToolCalls()
  for (const { number, id, data } of database
    .prepare('SELECT number, id, data FROM messages ORDER BY number')
    .iterate()) {
    const json = typeof data === 'string' ? parseObject(data) : undefined
    const message = json && messageOfStore({ id: String(id), order: Number(number), json }, calls)
    if (!json) onDamaged(Number(number))
    else for (const kind of unknownIn(json)) onUnknown(kind)
    if (message) yield message
  }
}

const readBeside = async (path: string): Promise<Json> =>
  parseObject(await readFile(besideOf(path), 'utf8').catch(() => '')) ?? {}

const readStore =
  (agentId: string, path: string): StoredSession['read'] =>
  ({ onMalformed }) =>
    sessionOfCopy(
      {
        externalId: acceptedId(idOf(path), 'session'),
        copy: () => copyFromDatabase(path, copyStore),
        messages: ({ database, result: { isUnknown } }, onDamaged, onUnknown) => {
          if (isUnknown) onDamaged(1)
          return messagesIn(database, onDamaged, onUnknown)
        },
        trace: async (outline, { meta, root }) => {
          const beside = await readBeside(path)
          return traceFieldsOf(agentId, {
            title: nameIn(beside['title'], meta['name']) ?? outline.title(),
            projectPath: textOf(beside['cwd']) ?? textOf(meta['workspacePath']) ?? pathOf(root?.folder),
            model: outline.model() ?? textOf(meta['lastUsedModel']),
            gitBranch: textOf(root?.branch),
          })
        },
      },
      onMalformed,
    )

/** Whether the session in a database of the command line tool can be read, or is known to be empty (README, rule 7). */
export const isKnownStore = rememberListing((path) => readDatabase(path, isKnownIn))

/** The session of a database of the command line tool, unless the editor's database holds it as well (README, rule 7). */
export async function* storeSessions(agentId: string, path: string): AsyncGenerator<StoredSession> {
  for (const database of databasesOfStore(path)) {
    const composers = await composerList.recent(database).catch(() => [])
    if (composers.some(({ id }) => id === idOf(path))) return
  }
  const { main, wal } = await lookAtFiles(path)
  const beside = await stat(besideOf(path), { bigint: true }).catch(() => undefined)
  yield {
    ...inOneFile(path, `${main} ${wal} ${beside ? `${beside.size} ${beside.mtimeNs}` : ''}`),
    read: readStore(agentId, path),
  }
}
