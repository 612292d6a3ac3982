import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Agent } from './agent.ts'
import { messageOf, UsageError } from '../../cli/exit.ts'

/** Told of each folder that cannot be read, and of each file that is gone again. */
type Unreadable = (path: string, message: string) => void

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')

/**
 * Session files in a folder and all folders below. No link in there is followed, to a file or a folder: it could lead out,
 * to what was never meant to be uploaded, or round; what it leads to inside is found by its own name.
 */
async function* searched(agent: Agent, folder: string, unreadable: Unreadable): AsyncGenerator<string> {
  try {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) yield* searched(agent, path, unreadable)
      else if (entry.isFile() && agent.owns(path)) yield path
    }
  } catch (error) {
    unreadable(folder, messageOf(error))
  }
}

async function* given(agent: Agent, path: string, unreadable: Unreadable): AsyncGenerator<string> {
  const found = await stat(path).catch((error: unknown) => {
    throw new UsageError(isMissing(error) ? `${path}: no such file or folder` : `${path}: ${messageOf(error)}`)
  })
  if (found.isDirectory()) return yield* searched(agent, path, unreadable)
  if (!found.isFile()) throw new UsageError(`${path}: neither a file nor a folder`)
  yield path
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => !isMissing(error),
  )

/**
 * The session files that `paths` mean, files or folders, each once and in a fixed order; without paths those in `roots`, where
 * a missing one holds none. A path or root that is itself a link is followed. Throws UsageError for a given path that is not
 * there.
 */
export const discover = async (
  agent: Agent,
  paths: readonly string[],
  roots: readonly string[],
  unreadable: Unreadable,
): Promise<readonly string[]> => {
  const files = new Set<string>()
  const add = async (found: AsyncIterable<string>) => {
    for await (const file of found)
      await realpath(file).then(
        (real) => files.add(real),
        (error: unknown) => unreadable(file, messageOf(error)),
      )
  }
  for (const path of paths) await add(given(agent, path, unreadable))
  if (paths.length === 0) for (const root of roots) if (await exists(root)) await add(searched(agent, root, unreadable))
  return [...files].sort()
}
