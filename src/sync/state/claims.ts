import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../../base/waits.ts'
import { type ProcessLock, tryLock } from '../../base/process-lock.ts'
import type { Database } from '../agents/support/sqlite/load.ts'
import { type StateFile, transaction } from './state-file.ts'

/** Another process, or another machine, has worked on a source for as long as this one was willing to wait. */
export class SourceBusy extends Error {
  override readonly name = 'SourceBusy'
  constructor(message = 'another process is uploading this session: this one leaves it out') {
    super(message)
  }
}

type Patience = {
  /** For how long to wait for the process that works on the source. */
  readonly waitMs: number
  /** Called once if it has to wait. */
  readonly onWait?: () => void
  readonly signal?: AbortSignal | undefined
}

export type Claims = {
  /**
   * Does `work` while no other process works on the same source. Otherwise two processes could send two versions of a growing message, and
   * the older one could arrive last. Throws SourceBusy, and the reason of `signal`.
   */
  readonly alone: <T>(source: string, patience: Patience, work: () => Promise<T>) => Promise<T>
}

const POLL_MS = 50

export const claimStatements = (database: Database) => ({
  database,
  owner: database.prepare('SELECT owner FROM claim WHERE source = ?'),
  set: database.prepare('INSERT OR REPLACE INTO claim (source, owner) VALUES (?, ?)'),
  remove: database.prepare('DELETE FROM claim WHERE source = ? AND owner = ?'),
})

/**
 * The locks by which processes know of each other, one for each process. The system releases a lock when its process ends, however
 * that happens, so a claim counts only while its owner is alive. Everything here is called in a write transaction: so no process
 * examines a lock between its creation and its acquisition.
 */
const newOwners = (folder: string) => {
  const pathOf = (owner: string) => join(folder, `${owner}.lock`)
  let own: { readonly name: string; readonly lock: ProcessLock } | undefined

  /** Removes the lock of a process that has ended. False when it has not. */
  const isGone = (owner: string): boolean => {
    if (!existsSync(pathOf(owner))) return true
    const lock = tryLock(pathOf(owner))
    if (!lock) return false
    rmSync(pathOf(owner), { force: true })
    lock.close()
    return true
  }

  /** This process's own name. Locks of processes that were killed are removed on the way. */
  const self = (): string => {
    if (own) return own.name
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const file of readdirSync(folder)) if (file.endsWith('.lock')) isGone(file.slice(0, -'.lock'.length))
    const name = randomUUID()
    const lock = tryLock(pathOf(name))
    if (!lock) throw new Error(`another process holds ${pathOf(name)}`)
    chmodSync(pathOf(name), 0o600)
    own = { name, lock }
    return name
  }

  const leave = () => {
    if (!own) return
    rmSync(pathOf(own.name), { force: true })
    own.lock.close()
    own = undefined
    if (readdirSync(folder).length === 0) rmdirSync(folder)
  }

  return { self, isGone, leave, isIn: () => own !== undefined }
}

/** `folder`: where the locks of processes are; undefined for a file in memory, which no other process works with. */
export const newClaims = <Prepared extends { readonly claims: ReturnType<typeof claimStatements> }>(
  file: StateFile<Prepared>,
  folder: string | undefined,
): Claims & { readonly close: () => void } => {
  if (folder === undefined) return { alone: (_source, _patience, work) => work(), close: () => {} }
  const owners = newOwners(folder)

  /** Claims a source for this process; false while another one holds it. */
  const claim = (source: string): boolean =>
    file.use(({ claims: { database, owner, set } }) =>
      transaction(database, () => {
        const self = owners.self()
        const found = owner.get(source)?.['owner']
        if (found !== undefined && found !== self && !owners.isGone(String(found))) return false
        set.run(source, self)
        return true
      }),
    )

  const release = (source: string): void => {
    try {
      file.use(({ claims: { remove } }) => void remove.run(source, owners.self()))
    } catch {
      // It cannot be noted. The claim ends with this process, which may claim the source again.
    }
  }

  const claimInTime = async (source: string, { waitMs, onWait, signal }: Patience): Promise<void> => {
    const deadline = performance.now() + waitMs
    for (let isFirst = true; !claim(source); isFirst = false) {
      if (isFirst) onWait?.()
      if (performance.now() >= deadline) throw new SourceBusy()
      await pause(POLL_MS, signal)
      signal?.throwIfAborted()
    }
  }

  const alone: Claims['alone'] = async (source, patience, work) => {
    await claimInTime(source, patience)
    try {
      return await work()
    } finally {
      release(source)
    }
  }

  const close = () => {
    if (!owners.isIn()) return
    try {
      file.use(({ claims: { database } }) => transaction(database, owners.leave))
    } catch {
      // The lock ends with this process, and its file is removed by another one.
    }
  }

  return { alone, close }
}
