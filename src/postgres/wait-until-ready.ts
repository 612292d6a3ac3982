import { setTimeout } from 'node:timers/promises'
import { closeConnection, newClient } from './connect.ts'

const AGAIN_MS = 250
const STATEMENT_MS = 5_000
const CANNOT_CONNECT_NOW = '57P03'

/**
 * Waits for a server that says it is starting or recovering, which it may be for as long as it has to.
 * @throws any other error of connecting, at once; `AbortError` when aborted
 */
export const waitUntilReady = async (url: string, signal: AbortSignal): Promise<void> => {
  for (;;) {
    signal.throwIfAborted()
    const client = newClient(url, 'start', STATEMENT_MS)
    client.on('error', () => {})
    try {
      await client.connect()
      return
    } catch (error) {
      if ((error as { code?: string }).code !== CANNOT_CONNECT_NOW) throw error
    } finally {
      await closeConnection(client)
    }
    await setTimeout(AGAIN_MS, undefined, { signal })
  }
}
