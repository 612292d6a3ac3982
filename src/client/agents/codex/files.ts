import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { EnvironmentVariables } from '../agent.ts'
import { type Json, millisecondsOf } from '../support/json.ts'
import { objectLines } from '../support/lines.ts'
import { storedTitle } from '../support/trace-fields.ts'

/** The CLI's own folder. */
export const codexFolder = (env: EnvironmentVariables, home: string): string =>
  env['CODEX_HOME'] || join(home, '.codex')

/** The folders of sessions in the CLI's own folder. */
export const SESSION_FOLDERS = ['sessions', 'archived_sessions']

const fileName =
  /^rollout-.*?(?:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?)?\.jsonl(?:\.zst)?$/

export const isRollout = (path: string): boolean => fileName.test(basename(path))

/** The id of the session in the name of its file. */
export const threadIdOf = (path: string): string | undefined => fileName.exec(basename(path))?.[1]

/** Whether the name of a file is that of a later part of a session: `rollout-<time>-<thread id>_<segment id>.jsonl` (README, rule 17). */
export const isSegment = (path: string): boolean => fileName.exec(basename(path))?.[2] !== undefined

/** The CLI's own folder, from the path of a session in it. */
const homeOf = (path: string): string | undefined => {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
    if (SESSION_FOLDERS.includes(basename(folder))) return dirname(folder)
  return undefined
}

const filesIn = async (folder: string, recursive: boolean): Promise<readonly string[]> => {
  const names = await readdir(folder, { recursive }).catch(() => [])
  return names.map((name) => join(folder, name))
}

/** The files of another session, beside the file `near` or in the same CLI's folder; of those that are stored twice the uncompressed one. */
export const findSession = async (threadId: string, near: string): Promise<readonly string[]> => {
  const home = homeOf(near)
  const folders = home === undefined ? [] : SESSION_FOLDERS.map((folder) => join(home, folder))
  const files = [
    await filesIn(dirname(near), false),
    ...(await Promise.all(folders.map((each) => filesIn(each, true)))),
  ]
  const isOf = (path: string) => threadIdOf(path) === threadId || basename(path).includes(`-${threadId}.jsonl`)
  const found = files.flat().filter((path) => isRollout(path) && isOf(path))
  const byName = Map.groupBy(found, (path) => basename(path, '.zst'))
  return [...byName.values()].map((same) => same.find((path) => path.endsWith('.jsonl')) ?? same[0]!).sort()
}

type Titles = ReadonlyMap<string, string>

/** Whether an object is a row of the index. */
const isRow = ({ id, thread_name: name }: Json): boolean => typeof id === 'string' && typeof name === 'string'

/** The newest title of each session in the index (README, rule 11). */
const readTitles = async (path: string, size: number): Promise<Titles> => {
  const rows = new Map<string, { readonly title: string; readonly at: number }>()
  for await (const { json } of objectLines(path, size, isRow)) {
    const { id, thread_name: name, updated_at: updatedAt } = json
    const title = storedTitle(name)
    const at = millisecondsOf(updatedAt) ?? 0
    if (typeof id === 'string' && title !== undefined && at >= (rows.get(id)?.at ?? 0)) rows.set(id, { title, at })
  }
  return new Map([...rows].map(([id, { title }]) => [id, title]))
}

// The titles of the last index are kept, because they are asked for with each of maybe thousands of sessions.
let last: { readonly path: string; readonly stamp: string; readonly titles: Promise<Titles> } | undefined

/** The titles in `session_index.jsonl` of the CLI's folder, from the path of a session in it. Empty if there is no index. */
const titlesNear = async (path: string): Promise<Titles> => {
  const home = homeOf(path)
  if (home === undefined) return new Map()
  const index = join(home, 'session_index.jsonl')
  const found = await stat(index).catch(() => undefined)
  if (!found?.isFile()) return new Map()
  const stamp = `${found.ino} ${found.size} ${found.mtimeMs}`
  if (last?.path !== index || last.stamp !== stamp)
    last = { path: index, stamp, titles: readTitles(index, found.size).catch(() => new Map()) }
  return last.titles
}

/** The title that the index has of a session; by default of the one whose id is in the file's name. */
export const indexedTitle = async (path: string, threadId: string | undefined = threadIdOf(path)) =>
  (await titlesNear(path)).get(threadId ?? '')
