import { chmod, mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { tryLock } from '../../base/process-lock.ts'
import { digest } from '../digest.ts'
import { readJson, writePrivateFile } from '../private-files.ts'
import { serverKey } from '../server-key.ts'

/** The process that watches the sessions of this user for a server. `since` is its start, in milliseconds. */
const Watcher = z.object({ pid: z.int(), server: z.string(), since: z.int() })
export type Watcher = z.infer<typeof Watcher>

const folderOf = (stateFolder: string): string => join(stateFolder, 'watch')
const fileOf = (stateFolder: string, server: string, extension: string): string =>
  join(folderOf(stateFolder), `${digest(serverKey(server))}.${extension}`)

const readWatcher = async (stateFolder: string, server: string): Promise<Watcher | undefined> =>
  Watcher.safeParse(await readJson(fileOf(stateFolder, server, 'json'))).data

/** The process that watches for a server; undefined if there is none. */
export const runningWatcher = async (stateFolder: string, server: string): Promise<Watcher | undefined> => {
  const watcher = await readWatcher(stateFolder, server)
  if (!watcher) return undefined
  const free = tryLock(fileOf(stateFolder, server, 'lock'), 'shared')
  free?.close()
  return free ? undefined : watcher
}

/**
 * Makes this process the only one that watches for a server. Returns undefined if another process watches. The lock ends with the
 * process, also if it is killed.
 */
export const lockWatch = async (
  stateFolder: string,
  server: string,
): Promise<{ readonly release: () => Promise<void> } | undefined> => {
  await mkdir(folderOf(stateFolder), { recursive: true, mode: 0o700 })
  const file = fileOf(stateFolder, server, 'lock')
  const lock = tryLock(file, 'exclusive', 500)
  if (!lock) return undefined
  await chmod(file, 0o600)
  await writePrivateFile(
    fileOf(stateFolder, server, 'json'),
    JSON.stringify({ pid: process.pid, server, since: Date.now() } satisfies Watcher),
  )
  const release = async () => {
    await rm(fileOf(stateFolder, server, 'json'), { force: true })
    lock.close()
  }
  return { release }
}

/** Removes the files of watchers that have ended. */
export const removeWatchLocks = async (stateFolder: string): Promise<void> => {
  const folder = folderOf(stateFolder)
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter((one) => one.endsWith('.lock'))) {
    const lock = tryLock(join(folder, name))
    if (!lock) continue
    await rm(join(folder, name), { force: true })
    await rm(join(folder, name.replace(/lock$/, 'json')), { force: true })
    lock.close()
  }
  await rmdir(folder).catch(() => {})
}
