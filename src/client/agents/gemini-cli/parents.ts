import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { acceptedId, isExternalId } from '../support/external-ids.ts'
import { type Json, objectsIn } from '../support/json.ts'
import { objectLines } from '../support/lines.ts'
import { isWholeRecord } from './history.ts'

/** The id of the session that started the sub-agent whose session the file holds: the file is in its folder (README, rule 8). */
const parentIdOf = (path: string): string | undefined => {
  const folder = dirname(path)
  const isSubAgent = basename(dirname(folder)) === 'chats' && !basename(path).startsWith('session-')
  return isSubAgent ? basename(folder) : undefined
}

/** The externalId of that session. */
export const parentOf = (path: string): string | undefined => {
  const parent = parentIdOf(path)
  return parent === undefined ? undefined : acceptedId(parent, 'session')
}

/** The files in which that session may be: their names end with the beginning of its id. */
const parentFiles = async (path: string, parentId: string): Promise<readonly string[]> => {
  const chats = dirname(dirname(path))
  const names = await readdir(chats).catch(() => [])
  return names.filter((name) => name.endsWith(`-${parentId.slice(0, 8)}.jsonl`)).map((name) => join(chats, name))
}

const callIn = (json: Json, sessionId: string): string | undefined => {
  const id = objectsIn(json['toolCalls']).find(({ agentId }) => agentId === sessionId)?.['id']
  return isExternalId(id) ? id : undefined
}

/** Of how many sub-agents that is remembered. */
const MOST_FOUND = 1_000
// The call never changes. Where none was found yet, the parent's file is not read again before it has changed.
const found = new BoundedMap<string, string>(MOST_FOUND)
const without = new BoundedMap<string, string>(MOST_FOUND)

const search = async (path: string, file: string): Promise<void> => {
  const { size, mtimeMs } = await stat(file)
  const stamp = `${file} ${size} ${mtimeMs}`
  if (without.get(path) === stamp) return
  for await (const { json } of objectLines(file, size, isWholeRecord)) {
    const id = callIn(json, basename(path, '.jsonl'))
    if (id === undefined) continue
    found.set(path, id)
    without.delete(path)
    return
  }
  without.set(path, stamp)
}

/** The call that started a sub-agent: the parent's file names the session beside it, once the sub-agent has ended (README, rule 8). */
export const parentCallOf = async (path: string): Promise<string | undefined> => {
  const parentId = parentIdOf(path)
  if (parentId === undefined || found.has(path)) return found.get(path)
  for (const file of await parentFiles(path, parentId)) await search(path, file).catch(() => {})
  return found.get(path)
}
