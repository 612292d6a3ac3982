import { setTimeout } from 'node:timers/promises'
import { ANSWER_MS, newClient, withConnection } from './connect.ts'
import { SqlState, hasSqlState } from './sql-state.ts'

const RETRY_MS = 250

/**
 * Waits, without a limit, for a server that is starting or recovering.
 * @throws any other error of connecting, at once
 * @throws AbortError when aborted
 */
export const waitUntilReady = async (url: string, signal: AbortSignal): Promise<void> => {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await withConnection(newClient(url, 'start', ANSWER_MS), async () => {})
    } catch (error) {
      if (!hasSqlState(error, SqlState.cannotConnectNow)) throw error
    }
    await setTimeout(RETRY_MS, undefined, { signal })
  }
}
