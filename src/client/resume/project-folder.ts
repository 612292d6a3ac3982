import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { objectsOf } from '../agents/support/files.ts'

/** How much of a path Claude Code uses as it is for the name of a folder. */
const MOST = 200

/** The name of the folder in which Claude Code stores the sessions of a folder. */
export const projectFolderName = (directory: string): string => {
  const name = directory.replaceAll(/[^A-Za-z0-9]/g, '-')
  if (name.length <= MOST) return name
  let hash = 0
  for (let i = 0; i < directory.length; i++) hash = ((hash << 5) - hash + directory.charCodeAt(i)) | 0
  return `${name.slice(0, MOST)}-${Math.abs(hash).toString(36)}`
}

const BEGINNING = 64 * 1024

export const beginningOf = async (path: string): Promise<string> => {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGINNING), 0, BEGINNING, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => [])

/** Whether a folder has a session of a directory. */
const isOf = async (folder: string, directory: string): Promise<boolean> => {
  for (const name of await namesIn(folder)) {
    if (!name.endsWith('.jsonl')) continue
    const beginning = await beginningOf(join(folder, name)).catch(() => '')
    if (objectsOf(beginning).some(({ cwd }) => cwd === directory)) return true
  }
  return false
}

/**
 * The folder of Claude Code's sessions of a directory. How the names of long paths end has changed between its versions, so for these a folder that is there
 * already is taken, if exactly one has a session of the directory.
 */
export const projectFolder = async (projects: string, directory: string): Promise<string> => {
  const name = projectFolderName(directory)
  if (name.length <= MOST) return join(projects, name)
  const names = await namesIn(projects)
  if (names.includes(name)) return join(projects, name)
  const begun = names.filter((other) => other.startsWith(name.slice(0, MOST))).map((other) => join(projects, other))
  const own = await Promise.all(begun.map((folder) => isOf(folder, directory)))
  const found = begun.filter((_, i) => own[i])
  return found.length === 1 ? found[0]! : join(projects, name)
}
