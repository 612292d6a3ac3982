import { setTimeout } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import { LogUnavailable } from '../log.ts'
import type { Connection } from './connection.ts'
import { permanentError, isNotLeader } from './errors.ts'

// A connection has 100 streams, of which the subscription takes one.
const MAX_CONCURRENT = 64
const RETRY_MS = 50

/** Runs at most so many jobs at a time; the others wait in their order. */
const newLimiter = (maxConcurrent: number) => {
  let running = 0
  const waiting: (() => void)[] = []
  return async <T>(job: () => Promise<T>): Promise<T> => {
    if (running >= maxConcurrent) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await job()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}

export type RetryingRead = <T>(work: (client: EventStoreDBClient) => Promise<T>, signal?: AbortSignal) => Promise<T>

/**
 * Runs a read, and tries again over a new connection until the deadline. For reads only: an append must not be repeated
 * like this.
 * @throws LogUnavailable at the deadline, or when the server refuses for good
 */
export const newRetryingRead = (connection: Connection, deadlineMs: number): RetryingRead => {
  const limited = newLimiter(MAX_CONCURRENT)
  return async (work, signal) => {
    const end = performance.now() + deadlineMs
    for (;;) {
      const client = connection.client()
      try {
        return await limited(() => work(client))
      } catch (error) {
        const final = permanentError(error)
        if (final) throw final
        if (signal?.aborted) throw new LogUnavailable(false, error)
        if (isNotLeader(error)) connection.noteFault()
        else connection.renew(client)
        if (performance.now() + RETRY_MS > end) throw new LogUnavailable(false, error)
        await setTimeout(RETRY_MS)
      }
    }
  }
}
