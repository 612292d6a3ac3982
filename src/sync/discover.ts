import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Agent } from './agents/agent.ts'
import { messageOf, UsageError } from './errors.ts'

/** Told of each folder that cannot be read. */
type Unreadable = (path: string, message: string) => void

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')

const isFile = async (path: string): Promise<boolean> => {
  try {
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

/** Session files in a folder and all folders below; links to folders are not followed, so that there is no way round. */
const searched = async (agent: Agent, folder: string, unreadable: Unreadable): Promise<string[]> => {
  try {
    const found: string[] = []
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) found.push(...(await searched(agent, path, unreadable)))
      else if (agent.owns(path) && (entry.isFile() || (await isFile(path)))) found.push(path)
    }
    return found
  } catch (error) {
    unreadable(folder, messageOf(error))
    return []
  }
}

const given = async (agent: Agent, path: string, unreadable: Unreadable): Promise<string[]> => {
  const found = await stat(path).catch((error: unknown) => {
    throw new UsageError(isMissing(error) ? `${path}: no such file or folder` : `${path}: ${messageOf(error)}`)
  })
  if (found.isDirectory()) return searched(agent, path, unreadable)
  if (!found.isFile()) throw new UsageError(`${path}: neither a file nor a folder`)
  return [path]
}

/**
 * The session files that `paths` mean, files or folders, each once and in a fixed order; without paths those in `roots`, where
 * a missing one holds none. Throws UsageError for a given path that is not there.
 */
export const discover = async (
  agent: Agent,
  paths: readonly string[],
  roots: readonly string[],
  unreadable: Unreadable,
): Promise<readonly string[]> => {
  const files: string[] = []
  for (const path of paths) files.push(...(await given(agent, path, unreadable)))
  if (paths.length === 0)
    for (const root of roots)
      if (
        await stat(root).then(
          () => true,
          (error: unknown) => !isMissing(error),
        )
      )
        files.push(...(await searched(agent, root, unreadable)))
  const real = await Promise.all(files.map((file) => realpath(file)))
  return [...new Set(real)].sort()
}
