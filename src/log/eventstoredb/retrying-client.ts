import { setTimeout } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import { newGate } from '../../gate.ts'
import { LogUnavailable } from '../log.ts'
import type { Connection } from './connection.ts'
import { hopeless, isNotLeader } from './errors.ts'

// One of the connection's 100 streams is the subscription's.
const AT_ONCE = 64
const RETRY_MS = 50

export type Ask = <T>(work: (client: EventStoreDBClient) => Promise<T>, signal?: AbortSignal) => Promise<T>

/** Asks, and again until the deadline: what only reads may be repeated. @throws LogUnavailable */
export const newAsk = (connection: Connection, deadlineMs: number): Ask => {
  const gate = newGate(AT_ONCE)
  return async (work, signal) => {
    const end = performance.now() + deadlineMs
    for (;;) {
      const client = connection.client()
      try {
        return await gate(() => work(client))
      } catch (error) {
        const final = hopeless(error)
        if (final) throw final
        if (signal?.aborted) throw new LogUnavailable(false, error)
        if (isNotLeader(error)) connection.fault()
        else connection.renew(client)
        if (performance.now() + RETRY_MS > end) throw new LogUnavailable(false, error)
        await setTimeout(RETRY_MS)
      }
    }
  }
}
