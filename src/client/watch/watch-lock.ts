import { chmod, mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { tryLock } from '../../base/process-lock.ts'
import { digest } from '../digest.ts'
import { nameOfServer } from '../login/credentials.ts'
import { readJson, writePrivateFile } from '../private-files.ts'

/** The process that watches the sessions of this user for a server. `since` is its start, in milliseconds. */
const Watcher = z.object({ pid: z.int(), server: z.string(), since: z.int() })
export type Watcher = z.infer<typeof Watcher>

const folderOf = (stateFolder: string): string => join(stateFolder, 'watch')

/** Where it is noted who watches for the service at an address. */
export type WatchPlace = { readonly stateFolder: string; readonly config: string; readonly server: string }

const fileOf = ({ stateFolder, config, server }: WatchPlace, extension: string): string =>
  join(folderOf(stateFolder), `${digest(nameOfServer(config, server))}.${extension}`)

/** The process that watches for a service; undefined if there is none. */
export const runningWatcher = async (place: WatchPlace): Promise<Watcher | undefined> => {
  const watcher = Watcher.safeParse(await readJson(fileOf(place, 'json'))).data
  if (!watcher) return undefined
  const free = tryLock(fileOf(place, 'lock'), 'shared')
  free?.close()
  return free ? undefined : watcher
}

/**
 * Makes this process the only one that watches for a service. Returns undefined if another process watches. The lock ends with the
 * process, also if it is killed.
 */
export const lockWatch = async (place: WatchPlace): Promise<{ readonly release: () => Promise<void> } | undefined> => {
  await mkdir(folderOf(place.stateFolder), { recursive: true, mode: 0o700 })
  const [file, note] = [fileOf(place, 'lock'), fileOf(place, 'json')]
  const lock = tryLock(file, 'exclusive', 500)
  if (!lock) return undefined
  await chmod(file, 0o600)
  await writePrivateFile(
    note,
    JSON.stringify({ pid: process.pid, server: place.server, since: Date.now() } satisfies Watcher),
  )
  const release = async () => {
    await rm(note, { force: true })
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
