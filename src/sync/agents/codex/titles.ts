import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { millisecondsOf } from '../support/json.ts'
import { objectLines } from '../support/lines.ts'
import { storedTitle } from '../support/title.ts'
import { homeOf } from './files.ts'

type Titles = ReadonlyMap<string, string>

/** The newest title of each session in the index (README, rule 11). */
const readTitles = async (path: string, size: number): Promise<Titles> => {
  const rows = new Map<string, { readonly title: string; readonly at: number }>()
  for await (const { json } of objectLines(path, size, () => {})) {
    const { id, thread_name: name, updated_at: updatedAt } = json
    const title = storedTitle(name)
    const at = millisecondsOf(updatedAt) ?? 0
    if (typeof id === 'string' && title !== undefined && at >= (rows.get(id)?.at ?? 0)) rows.set(id, { title, at })
  }
  return new Map([...rows].map(([id, { title }]) => [id, title]))
}

// Kept for the index that was read last: it is asked for each session, and there may be thousands.
let last: { readonly path: string; readonly stamp: string; readonly titles: Promise<Titles> } | undefined

/** The titles in `session_index.jsonl` of the CLI's folder in which the session at `path` is; none without an index. */
export const titlesNear = async (path: string): Promise<Titles> => {
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
