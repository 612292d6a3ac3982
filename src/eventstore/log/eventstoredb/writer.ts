import type { EventStoreDBClient } from '@eventstore/db-client'
import { currentClient, withPermit } from '../../../base/current-client.ts'
import { newPermits } from '../../../base/permits.ts'
import { type Appended, type ExpectedRevision, LogChanged, LogUnavailable, WrongRevision } from '../log.ts'
import type { Address } from './address.ts'
import { callAppend } from './append-call.ts'
import type { ProposedEvent } from './append-request.ts'
import type { Connection } from './connection.ts'
import { permanentError, isNeverSent, isNotLeader } from './errors.ts'
import { newKeyedQueue } from './keyed-queue.ts'
import { type PendingAppend, newPendingAppend } from './pending-append.ts'

// A connection has 100 streams; more concurrent appends are not faster (measured).
const MAX_CONCURRENT = 64
const RETRY_MS = 50
/** With less time left than this an append is not tried: it would hardly be answered in time, and might be stored or not. */
const LEAST_MS = 20
/** How often to check whether a revision can be read. A conflict reports it some milliseconds earlier (measured: median 5, at most 76). */
const POLL_MS = 4

export type Writer = {
  /** `stream` is the full name. `assertSame` is called before each attempt, and throws if the log is another one by now. */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly ProposedEvent[],
    assertSame?: () => Promise<void>,
  ): Promise<Appended>
  /** Accepts no more appends, and resolves when all are answered. */
  close(): Promise<void>
}

type WriterOptions = {
  readonly connection: Connection
  readonly address: Address
  readonly deadlineMs: number
  /** The log's head: the position in the answer if the events of an earlier attempt have been truncated since. */
  readonly head: () => Promise<bigint>
  /** Whether a read of a stream, by its full name, returns the events up to a revision. */
  readonly canReadUpTo: (stream: string, revision: bigint) => Promise<boolean>
  readonly observe?: ((appends: number, events: number, ms: number) => void) | undefined
}

/**
 * Sends one append at a time for each stream, and at most 64 in all, for which clients take turns. After any error but a conflict the append is sent
 * again until the deadline, with the same ids and the same expected revision, so that the server recognises it.
 */
export const newWriter = ({ connection, address, deadlineMs, head, canReadUpTo, observe }: WriterOptions): Writer => {
  const keyedQueue = newKeyedQueue()
  // An append that waits is answered at its deadline.
  const permits = newPermits({ capacity: MAX_CONCURRENT, things: 'appends', graceTicks: 0, waitTicks: Infinity })
  let closed = false

  const conflict = (append: PendingAppend, actual: ExpectedRevision) => {
    append.maybeStored = false // the server would have recognised an earlier attempt by its ids
    return new WrongRevision(append.stream.slice(address.prefix.length), actual)
  }

  /** Waits until reads return the revision of a conflict, at most until the deadline. */
  const untilReadable = async (append: PendingAppend, { actual }: WrongRevision) => {
    if (actual === 'none') return
    while (!append.isSettled() && !(await canReadUpTo(append.stream, actual)))
      await new Promise((resume) => setTimeout(resume, POLL_MS))
  }

  const send = async (client: EventStoreDBClient, append: PendingAppend): Promise<Appended | WrongRevision> => {
    const { stream, expected, events, end } = append
    const until = Math.min(end, performance.now() + append.attemptMs)
    const answer = await callAppend(client, { stream, expected, events, credentials: address.credentials, until })
    if (answer.is === 'conflict') return conflict(append, answer.actual)
    return { revision: answer.revision, position: answer.position ?? (await head()) }
  }

  /** One attempt. Undefined if it has failed and may succeed later. */
  const attempt = async (append: PendingAppend): Promise<Appended | Error | undefined> => {
    const client = connection.client()
    const started = performance.now()
    append.inFlight = client
    try {
      const answer = await send(client, append)
      if (!(answer instanceof Error)) observe?.(1, append.events.length, performance.now() - started)
      return answer
    } catch (error) {
      const final = permanentError(error, append.maybeStored ? 'unknown' : false)
      if (final) return final
      append.lastError = error
      if (!isNeverSent(error)) append.maybeStored = true
      if (isNotLeader(error)) connection.noteFailure()
      else connection.renew(client)
      return undefined
    } finally {
      append.inFlight = undefined
    }
  }

  /** Whether the log is still the same. Answers the append if it cannot be stored any more. */
  const isSameLog = async (append: PendingAppend, assertSame: () => Promise<void>): Promise<boolean> => {
    try {
      await assertSame()
      return true
    } catch (error) {
      const stored = append.maybeStored ? 'unknown' : false
      if (error instanceof LogChanged) append.settle(new LogUnavailable(stored, error, error.message))
      const final = permanentError((error as Error).cause, stored)
      if (final) append.settle(final)
      append.lastError = error
      return false
    }
  }

  /** Tries until the append is answered. */
  const persist = async (append: PendingAppend, assertSame: () => Promise<void>) => {
    while (!append.isSettled()) {
      const isSame = await isSameLog(append, assertSame)
      if (append.end <= performance.now()) append.refuse() // the timer is late, for example after a freeze of the process
      if (append.isSettled()) return // the answer says that it is not stored, so it must not be stored now
      const outcome = isSame ? await attempt(append) : undefined
      if (outcome instanceof WrongRevision) await untilReadable(append, outcome)
      if (outcome) append.settle(outcome)
      else await new Promise((resume) => setTimeout(resume, RETRY_MS))
    }
  }

  const append: Writer['append'] = async (stream, expected, events, assertSame = async () => {}) => {
    if (closed) throw new LogUnavailable(false)
    const pending = newPendingAppend({ stream, expected, events }, deadlineMs, (client) => connection.renew(client))
    const job = async () => {
      if (pending.end - performance.now() < LEAST_MS) pending.refuse() // its time has passed in the queue
      persist(pending, assertSame).catch(pending.settle)
      // Once this append is answered the next one starts, even if the client's promise never settles.
      await pending.answered.catch(() => {})
    }
    const client = currentClient()
    keyedQueue.add(stream, () => withPermit(permits, client, job))
    return pending.answered
  }

  const close = async () => {
    closed = true
    await keyedQueue.idle()
  }

  return { append, close }
}
