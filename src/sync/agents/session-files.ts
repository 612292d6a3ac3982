import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorMessage, UsageError } from '../../cli/exit.ts'
import type { Agent } from './agent.ts'

/** Called for each folder that cannot be read, and for each file that was deleted during the search. */
type ReportUnreadable = (path: string, message: string) => void

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')

/**
 * Session files in a folder and all folders below. Symbolic links are not followed: they could lead to files outside that are
 * not meant for upload, or back to a folder above.
 */
async function* filesBelow(
  agents: readonly Agent[],
  folder: string,
  unreadable: ReportUnreadable,
): AsyncGenerator<string> {
  try {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) yield* filesBelow(agents, path, unreadable)
      else if (entry.isFile() && agents.some(({ isSessionFile }) => isSessionFile(path))) yield path
    }
  } catch (error) {
    unreadable(folder, errorMessage(error))
  }
}

async function* filesOfPath(
  agents: readonly Agent[],
  path: string,
  unreadable: ReportUnreadable,
): AsyncGenerator<string> {
  const found = await stat(path).catch((error: unknown) => {
    throw new UsageError(isMissing(error) ? `${path}: no such file or folder` : `${path}: ${errorMessage(error)}`)
  })
  if (found.isDirectory()) return yield* filesBelow(agents, path, unreadable)
  if (!found.isFile()) throw new UsageError(`${path}: neither a file nor a folder`)
  yield path
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => !isMissing(error),
  )

/**
 * The session files at `paths`, which are files or folders; without paths those in `roots`, which may be missing. Returns real
 * paths, sorted and without duplicates. A path or root that is itself a symbolic link is followed. Throws UsageError for a
 * path that does not exist or is neither a file nor a folder.
 */
export const findSessionFiles = async (
  agents: readonly Agent[],
  paths: readonly string[],
  roots: readonly string[],
  unreadable: ReportUnreadable,
): Promise<readonly string[]> => {
  const files = new Set<string>()
  const add = async (found: AsyncIterable<string>) => {
    for await (const file of found)
      await realpath(file).then(
        (real) => files.add(real),
        (error: unknown) => unreadable(file, errorMessage(error)),
      )
  }
  for (const path of paths) await add(filesOfPath(agents, path, unreadable))
  if (paths.length === 0)
    for (const root of roots) if (await exists(root)) await add(filesBelow(agents, root, unreadable))
  return [...files].sort()
}
