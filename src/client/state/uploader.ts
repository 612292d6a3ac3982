import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type ProcessLock, tryLock } from '../../base/process-lock.ts'
import { pause } from '../../base/waits.ts'
import { digest } from '../digest.ts'
import { nameOfServer } from '../login/credentials.ts'
import { StateFailed } from './state-file.ts'

/** Does `work` while no other process of this user uploads to the service. Throws StateFailed, and the reason of an aborted signal. */
export type AsUploader = <T>(work: () => Promise<T>) => Promise<T>

/** A service, and the folders of settings and of what was uploaded. */
type Place = { readonly stateFolder: string; readonly config: string; readonly server: string }

type Waiting = {
  /** Called once if another process uploads. */
  readonly onWait?: () => void
  readonly signal?: AbortSignal | undefined
}

const POLL_MS = 100

/**
 * There is one uploader at a time: a `sync` for its run, a watch for a round. Two could send two versions of a growing message, and the older one
 * could arrive last; and one could do the duty of another that has not taken the secrets out yet. The system releases the lock when its
 * process ends, however that happens. Its file stays, because others may wait for it.
 */
export const newUploader = (
  { stateFolder, config, server }: Place,
  { onWait = () => {}, signal }: Waiting = {},
): AsUploader => {
  const folder = join(stateFolder, 'uploading')
  const file = join(folder, `${digest(nameOfServer(config, server))}.lock`)

  const tryToLock = async (): Promise<ProcessLock | undefined> => {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      return tryLock(file)
    } catch (error) {
      throw new StateFailed(file, error)
    }
  }
  const lock = async (): Promise<ProcessLock> => {
    for (let isFirst = true; ; isFirst = false) {
      signal?.throwIfAborted()
      const locked = await tryToLock()
      if (locked) return locked
      if (isFirst) onWait()
      await pause(POLL_MS, signal)
    }
  }
  return async (work) => {
    const held = await lock()
    try {
      return await work()
    } finally {
      held.close()
    }
  }
}
