import { chmod, mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { type ProcessLock, tryLock } from '../../base/process-lock.ts'
import { replaceFile } from '../../base/replace-file.ts'
import { UnfinishedRestore } from '../postgres/unfinished-restore.ts'
import { isAlive } from './processes.ts'

const Owner = z.object({
  pid: z.int().positive(),
  url: z.string().optional(),
  databaseUrl: z.string().optional(),
  /** The owner is restoring a backup. If it was killed, the folder is incomplete. */
  restores: z.boolean().optional(),
})
type Owner = z.infer<typeof Owner>

/** The URLs of a running service and of its database. */
type Address = { readonly url: string; readonly databaseUrl: string }
type RunningService = Address & { readonly pid: number }

const ownerFile = (dataDir: string) => join(dataDir, 'tracebook.json')

/** Replaces the file atomically, readable only by its owner, because the database URL may have a password. */
const writeOwner = async (dataDir: string, owner: Owner): Promise<void> => {
  await replaceFile(ownerFile(dataDir), 0o600, (file) => file.writeFile(`${JSON.stringify(owner)}\n`))
}

/**
 * The file of the last owner, which may have ended since; undefined if there is none.
 * @throws Error if the file exists but cannot be read
 */
const readOwner = async (dataDir: string): Promise<Owner | undefined> => {
  const written = await readFile(ownerFile(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  try {
    return Owner.parse(JSON.parse(written ?? 'null'))
  } catch {
    // No file, or a damaged one after a power failure.
    return undefined
  }
}

/** How long to wait for an owner to write its pid, for a reader to release the lock, and for a killed process: its threads hold the lock until the last has ended. */
const TIMEOUT_MS = 2_000

const lockFile = (dataDir: string) => join(dataDir, 'tracebook.lock')

const acquire = async (dataDir: string): Promise<ProcessLock> => {
  for (const until = Date.now() + TIMEOUT_MS; ; await setTimeout(20)) {
    const lock = tryLock(lockFile(dataDir))
    if (lock) return lock
    if (Date.now() < until) continue
    const pid = (await readOwner(dataDir))?.pid
    const owner = pid !== undefined && isAlive(pid) ? `process ${pid}` : 'another process'
    throw new Error(`${dataDir} is in use by ${owner}: stop that, or choose another DATA_DIR`)
  }
}

/** Creates the folder. If root does, all users may enter it, whatever the umask, because root's PostgreSQL runs as another user. */
const makeFolder = async (dataDir: string) => {
  const first = await mkdir(dataDir, { recursive: true })
  if (first === undefined || process.getuid?.() !== 0) return
  for (let made = dataDir; made.length >= first.length; made = dirname(made)) await chmod(made, 0o711)
}

/**
 * Makes this process the owner of a DATA_DIR, which is created if it is missing. The lock ends with the process, even by kill -9.
 * With `restores` the folder is marked as having an unfinished restore: if the process is killed, only another restore may use it.
 * @throws Error that names the pid of the current owner
 * @throws UnfinishedRestore
 */
export const lockDataDir = async (dataDir: string, { restores = false } = {}) => {
  await makeFolder(dataDir)
  const held = await acquire(dataDir)
  // Private, because every process that can open the file can take the lock.
  try {
    await chmod(lockFile(dataDir), 0o600)
    if (!restores && (await readOwner(dataDir))?.restores) throw new UnfinishedRestore(dataDir)
    await writeOwner(dataDir, { pid: process.pid, ...(restores ? { restores } : {}) })
  } catch (error) {
    held.close()
    throw error
  }
  return {
    /** Stores how other commands of this user can reach this process (`readRunningService`). */
    publish: (address: Address) => writeOwner(dataDir, { pid: process.pid, ...address }),

    /** Releases the lock. */
    release: async () => {
      if (!held.isOpen) return
      await rm(ownerFile(dataDir), { force: true })
      held.close()
    },
  }
}

const isOwned = (dataDir: string): boolean => {
  const free = tryLock(lockFile(dataDir), 'shared')
  free?.close()
  return !free
}

/**
 * How to reach the process that owns this DATA_DIR; undefined if there is none, or it is still starting.
 * @throws Error if the folder belongs to another user
 */
export const readRunningService = async (dataDir: string): Promise<RunningService | undefined> => {
  const owner = await readOwner(dataDir)
  if (!owner?.url || !owner.databaseUrl || !isOwned(dataDir)) return undefined
  return { pid: owner.pid, url: owner.url, databaseUrl: owner.databaseUrl }
}
