import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { digest } from '../../digest.ts'
import type { StoredSession } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { inOneFile } from '../support/files.ts'
import { type Json, objectOf, parseObject, textOf } from '../support/json.ts'
import { type OnDamaged, type OnUnknown, sessionOfMessages } from '../support/session-of-messages.ts'
import { sessionList } from './database.ts'
import type { StoredMessage } from './messages.ts'
import { callThatStarted, messagesOf, type SessionInfo, traceOf } from './session.ts'

/** Larger files are not read (README, rule 9). */
const MAX_FILE = 64 << 20

/** The paths of the JSON files in a folder, by name; empty if there is no such folder. Links are not followed. */
const jsonFiles = async (folder: string): Promise<readonly string[]> => {
  const found = await lstat(folder).catch(() => undefined)
  if (!found?.isDirectory()) return []
  const entries = await readdir(folder, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map(({ name }) => join(folder, name))
    .sort()
}

/** The object in a file; undefined if the file holds anything else, is too large, or was deleted meanwhile. */
const readObject = async (path: string): Promise<Json | undefined> => {
  try {
    return (await stat(path)).size > MAX_FILE ? undefined : parseObject((await readFile(path, 'utf8')).trim())
  } catch {
    return undefined
  }
}

/** The folder below `parent` for an id; undefined if the id, as in a damaged file, would lead to another folder. */
const folderFor = (parent: string, id: string): string | undefined =>
  id !== '.' && id !== '..' && basename(id) === id ? join(parent, id) : undefined

const filesFor = async (parent: string, id: string): Promise<readonly string[]> => {
  const folder = folderFor(parent, id)
  return folder === undefined ? [] : jsonFiles(folder)
}

/** `<storage>` of `<storage>/session/<project>/<id>.json`. */
const storageOf = (path: string): string => dirname(dirname(dirname(path)))

const idOf = (json: Json | undefined, path: string): string => textOf(json?.['id']) ?? basename(path, '.json')

/** A message's file, and the keys by which messages are sorted. */
type MessageFile = { readonly path: string; readonly id: string; readonly created: number }

/** The files of a session's messages, in order (README, rule 4). Damaged files come last. */
const messageFiles = async (storage: string, sessionId: string): Promise<readonly MessageFile[]> => {
  const files: MessageFile[] = []
  for (const path of await filesFor(join(storage, 'message'), sessionId)) {
    const json = await readObject(path)
    const { created } = objectOf(json?.['time'])
    files.push({ path, id: idOf(json, path), created: typeof created === 'number' ? created : Infinity })
  }
  return files.sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))
}

/** The files of parts by message, if all are in one folder, as in the first version. */
const looseParts = async (storage: string): Promise<ReadonlyMap<string, readonly string[]>> => {
  const files = new Map<string, string[]>()
  for (const path of await jsonFiles(join(storage, 'part'))) {
    const id = textOf((await readObject(path))?.['messageID'])
    if (id !== undefined) files.set(id, [...(files.get(id) ?? []), path])
  }
  return files
}

async function* messagesIn(storage: string, sessionId: string, onDamaged: OnDamaged): AsyncGenerator<StoredMessage> {
  const loose = await looseParts(storage)
  let number = 0
  for (const { path, id } of await messageFiles(storage, sessionId)) {
    number++
    const info = await readObject(path)
    if (!info) {
      onDamaged(number)
      continue
    }
    const parts = []
    for (const file of [...(await filesFor(join(storage, 'part'), id)), ...(loose.get(id) ?? [])]) {
      const json = await readObject(file)
      if (json) parts.push({ id: idOf(json, file), json })
      else onDamaged(number)
    }
    yield { id, number, info, parts }
  }
}

/** The files of a message's parts. They are searched by the name of the message's file, which opencode makes from its id. */
const partFiles = async (storage: string, message: string): Promise<readonly string[]> => {
  const named = await filesFor(join(storage, 'part'), basename(message, '.json'))
  return named.length > 0 ? named : filesFor(join(storage, 'part'), idOf(await readObject(message), message))
}

/** The stamp of a session: it differs once one of its files may have changed. */
const stampOf = async (path: string, sessionId: string): Promise<string> => {
  const storage = storageOf(path)
  const messages = await filesFor(join(storage, 'message'), sessionId)
  const parts: string[] = []
  for (const message of messages) parts.push(...(await partFiles(storage, message)))
  const stats: string[] = []
  for (const file of [path, ...messages, ...parts, ...(await jsonFiles(join(storage, 'part')))]) {
    const found = await stat(file, { bigint: true }).catch(() => undefined)
    stats.push(`${file} ${found?.size} ${found?.mtimeNs}`)
  }
  return digest(stats.join('\n'))
}

/** Whether a database beside `storage` holds the session (README, rule 3). One that cannot be read counts as empty. */
const isInDatabase = async (storage: string, sessionId: string): Promise<boolean> => {
  const folder = dirname(storage)
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (!entry.isFile() || !/^opencode(?:-[\w.-]+)?\.db$/.test(entry.name)) continue
    const sessions = await sessionList.recent(join(folder, entry.name)).catch(() => [])
    if (sessions.some(({ id }) => id === sessionId)) return true
  }
  return false
}

/** The call that has started a session, in its parent. */
const parentCallOf = async (storage: string, id: string, parent: string): Promise<string | undefined> => {
  for await (const { parts } of messagesIn(storage, parent, () => {}))
    for (const { json } of parts) {
      const call = callThatStarted(id, json)
      if (call !== undefined) return call
    }
  return undefined
}

const infoOf = (id: string, json: Json | undefined): Omit<SessionInfo, 'parentCall' | 'origin' | 'repository'> => ({
  id,
  title: textOf(json?.['title']),
  directory: textOf(json?.['directory']),
  revert: objectOf(json?.['revert']),
  parent: textOf(json?.['parentID']),
})

/** The folder of a session's repository, as the file of its project has it. */
const repositoryOf = async (path: string): Promise<string | undefined> => {
  const project = basename(dirname(path))
  return textOf((await readObject(join(storageOf(path), 'project', `${project}.json`)))?.['worktree'])
}

const readSession =
  (agentId: string, path: string, id: string): StoredSession['read'] =>
  async ({ onMalformed }) => {
    const json = await readObject(path)
    const known = infoOf(id, json)
    const { parent } = known
    const parentCall = parent === undefined ? undefined : await parentCallOf(storageOf(path), id, parent)
    const repository = await repositoryOf(path)
    const info = { ...known, repository, parentCall, origin: undefined }
    const messages = (onDamaged: OnDamaged, onUnknown: OnUnknown) =>
      messagesOf(messagesIn(storageOf(path), id, onDamaged), info, onUnknown)
    return sessionOfMessages(
      {
        externalId: acceptedId(id, 'session'),
        first: (onDamaged, onUnknown) => {
          if (!json) onDamaged(1)
          return messages(onDamaged, onUnknown)
        },
        trace: (outline) => traceOf(agentId, info, outline),
        again: () =>
          messages(
            () => {},
            () => {},
          ),
      },
      onMalformed,
    )
  }

/** The session of a file, unless a database holds it as well. Throws where the file is missing. */
export async function* fileSessions(agentId: string, path: string): AsyncGenerator<StoredSession> {
  await stat(path)
  const id = idOf(await readObject(path), path)
  if (await isInDatabase(storageOf(path), id)) return
  yield { ...inOneFile(path, await stampOf(path, id)), read: readSession(agentId, path, id) }
}
