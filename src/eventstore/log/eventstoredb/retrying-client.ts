import { setTimeout } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import { currentClient, withPermit } from '../../../base/current-client.ts'
import { newPermits } from '../../../base/permits.ts'
import { LogUnavailable } from '../log.ts'
import type { Connection } from './connection.ts'
import { permanentError, isNotLeader } from './errors.ts'

// A connection has 100 streams, of which the subscription takes one.
const MAX_CONCURRENT = 64
const RETRY_MS = 50

export type RetryingRead = <T>(work: (client: EventStoreDBClient) => Promise<T>, signal?: AbortSignal) => Promise<T>

/**
 * Runs a read, and tries again over a new connection until the deadline. For reads only: an append must not be repeated
 * in this way.
 * @throws LogUnavailable at the deadline, or if the server refuses in a way that a retry cannot change
 */
export const newRetryingRead = (connection: Connection, deadlineMs: number): RetryingRead => {
  const reads = newPermits({ capacity: MAX_CONCURRENT, things: 'reads of the log', waitTicks: Infinity })
  return async (work, signal) => {
    const end = performance.now() + deadlineMs
    for (;;) {
      const client = connection.client()
      try {
        return await withPermit(reads, currentClient(), () => work(client))
      } catch (error) {
        const final = permanentError(error)
        if (final) throw final
        if (signal?.aborted) throw new LogUnavailable(false, error)
        if (isNotLeader(error)) connection.noteFailure()
        else connection.renew(client)
        if (performance.now() + RETRY_MS > end) throw new LogUnavailable(false, error)
        await setTimeout(RETRY_MS)
      }
    }
  }
}
