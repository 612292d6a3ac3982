import { setTimeout } from 'node:timers/promises'
import { ANSWER_MS, closeConnection, newClient } from './connect.ts'
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
    const client = newClient(url, 'start', ANSWER_MS)
    client.on('error', () => {})
    try {
      await client.connect()
      return
    } catch (error) {
      if (!hasSqlState(error, SqlState.cannotConnectNow)) throw error
    } finally {
      await closeConnection(client)
    }
    await setTimeout(RETRY_MS, undefined, { signal })
  }
}
