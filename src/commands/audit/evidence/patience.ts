import { pause } from '../../../base/waits.ts'
import { hasStatus, type RequestFailed } from '../../../client/api/errors.ts'

/** How long to wait in all for a checkpoint that covers everything. */
const WAIT_MS = 20_000

/** Whether an event was asked for that no checkpoint, or not the tree that was named, covers yet. */
export const isNotCovered = (error: unknown): error is RequestFailed =>
  hasStatus(error, 404) && error.retryAfterMs !== undefined

/** Waits as often as the service asks for it, until `WAIT_MS` have passed. */
export type Patience = {
  /** @throws Error when it was waited for too long */
  wait(error: RequestFailed): Promise<void>
  /** Asks until all that is asked for is covered. */
  ask<T>(request: () => Promise<T>): Promise<T>
}

export const newPatience = (signal: AbortSignal): Patience => {
  let until: number | undefined
  const wait = async ({ retryAfterMs = 0 }: RequestFailed) => {
    until ??= performance.now() + WAIT_MS
    if (performance.now() + retryAfterMs > until)
      throw new Error('No checkpoint of the log covers everything yet: try again later.')
    await pause(retryAfterMs, signal)
    signal.throwIfAborted()
  }
  const ask = async <T>(request: () => Promise<T>): Promise<T> => {
    for (;;)
      try {
        return await request()
      } catch (error) {
        if (!isNotCovered(error)) throw error
        await wait(error)
      }
  }
  return { wait, ask }
}
