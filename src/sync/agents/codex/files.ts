import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** The folders of sessions in the CLI's own folder. */
export const SESSION_FOLDERS = ['sessions', 'archived_sessions']

const fileName = /^rollout-.*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\.jsonl(?:\.zst)?$/

export const isRollout = (path: string): boolean => fileName.test(basename(path))

/** The id of the session in the name of its file. */
export const threadIdOf = (path: string): string | undefined => fileName.exec(basename(path))?.[1]

/** The CLI's own folder, by the path of a session in it. */
export const homeOf = (path: string): string | undefined => {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
    if (SESSION_FOLDERS.includes(basename(folder))) return dirname(folder)
  return undefined
}

const filesIn = async (folder: string, recursive: boolean): Promise<readonly string[]> => {
  const names = await readdir(folder, { recursive }).catch(() => [])
  return names.map((name) => join(folder, name))
}

/** The file of another session, beside this one or in the same CLI's folder; the plain one where it is there compressed too. */
export const findSession = async (threadId: string, near: string): Promise<string | undefined> => {
  const home = homeOf(near)
  const folders = home === undefined ? [] : SESSION_FOLDERS.map((folder) => join(home, folder))
  const files = [
    await filesIn(dirname(near), false),
    ...(await Promise.all(folders.map((each) => filesIn(each, true)))),
  ]
  const found = files.flat().filter((path) => isRollout(path) && basename(path).includes(`-${threadId}.jsonl`))
  return found.find((path) => path.endsWith('.jsonl')) ?? found[0]
}
