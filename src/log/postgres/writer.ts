import type pg from 'pg'
import { isDiskFull, isTransient } from '../../postgres/connect.ts'
import {
  type Appended,
  type ExpectedRevision,
  LogUnavailable,
  type NewEvent,
  type RecordedEvent,
  revisionNumber,
} from '../log.ts'
import { NotDurable, newConnection } from './connection.ts'
import { type Waiting, newQueue } from './append-queue.ts'
import { type Written, prepare } from './append-statement.ts'

const RECONNECT_MS = 100

export type Writer = {
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended>
  /** Refuses all that have not been answered: they were decided on what may be lost. */
  abandon(reason: Error): void
  /** Takes no more appends, answers those that wait, then hangs up. */
  close(): Promise<void>
}

export type WriterOptions = {
  readonly url: string
  /** How long an append may take before it is answered with LogUnavailable. */
  readonly deadlineMs: number
  /** Looks at the log over a new connection, before it is used. */
  readonly verify: (client: pg.Client) => Promise<void>
  /**
   * Says before the appends are answered that the log has grown, by `events`, in order and without gaps between them.
   * Without events: by what an earlier statement has stored whose answer was lost.
   */
  readonly committed: (events: readonly RecordedEvent[]) => void
  /** Appends, events and milliseconds of each batch, for the metrics. */
  readonly observe?: (appends: number, events: number, ms: number) => void
}

/** Nothing of this attempt has been stored, and trying again would not help. */
class Hopeless extends Error {}

/**
 * Group commit: appends wait in a queue, one connection takes up to 512 of them (8 MiB, one per stream) in a single
 * statement, and each is answered on its own. After a lost connection the same ids go again, which is safe.
 */
export const newWriter = ({ url, deadlineMs, verify, committed, observe }: WriterOptions): Writer => {
  const queue = newQueue()
  const connection = newConnection(url, deadlineMs, verify)
  let draining: Promise<void> | undefined
  const open = new Set<Waiting>()
  let trouble: unknown
  let closed = false

  const refuse = (append: Waiting, cause: unknown) => {
    const stored = append.unsure || append.inFlight ? 'unknown' : false
    append.settle(new LogUnavailable(stored, cause, cause instanceof NotDurable ? cause.message : undefined))
  }

  const connected = () =>
    connection.get().catch((error) => {
      throw error instanceof NotDurable || !isTransient(error) ? new Hopeless('', { cause: error }) : error
    })

  const send = async (batch: readonly Waiting[], client: pg.Client): Promise<Written> => {
    const statement = prepare(batch)
    for (const append of batch) append.inFlight = true
    try {
      return await statement(client)
    } catch (error) {
      if (isTransient(error) && !isDiskFull(error)) for (const append of batch) append.unsure = true
      throw error
    } finally {
      for (const append of batch) append.inFlight = false
    }
  }

  const write = async (appends: readonly Waiting[]) => {
    const client = await connected()
    const batch = appends.filter((append) => !append.settled) // what has been refused must not be stored after all
    if (batch.length === 0) return
    const started = performance.now()
    const { answers, fresh } = await send(batch, client)
    trouble = undefined
    observe?.(batch.length, fresh.length, performance.now() - started)
    if (answers.some((answer) => !(answer instanceof Error))) committed(fresh)
    for (const [i, append] of batch.entries()) append.settle(answers[i]!)
  }

  /** Connects and writes, and gives up the connection when that takes too long. */
  const writeInTime = async (batch: readonly Waiting[]) => {
    const stuck = setTimeout(connection.drop, deadlineMs)
    await write(batch).finally(() => clearTimeout(stuck))
  }

  /** Decides who is to blame: the server (again later), the disk (refuse), or one append (find it). */
  const failed = async (batch: readonly Waiting[], error: unknown) => {
    if (error instanceof Hopeless) for (const append of batch) refuse(append, error.cause)
    else if (isDiskFull(error)) for (const append of batch) refuse(append, error)
    else if (isTransient(error)) {
      trouble = error
      queue.putBack(batch)
      connection.drop()
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
    } else if (batch.length === 1) batch[0]!.settle(error as Error)
    else {
      const half = batch.length >> 1
      await attempt(batch.slice(0, half))
      await attempt(batch.slice(half))
    }
  }

  const attempt = (batch: readonly Waiting[]): Promise<void> =>
    writeInTime(batch).catch((error) => failed(batch, error))

  const drain = async () => {
    while (queue.hasWaiting()) {
      await new Promise(setImmediate) // lets the appends of this turn of the event loop come along
      const batch = queue.take()
      if (batch.length > 0) await attempt(batch)
    }
    draining = undefined
  }

  const enqueue = (stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) =>
    new Promise<Appended>((resolve, reject) => {
      const settle = (outcome: Appended | Error) => {
        if (append.settled) return
        append.settled = true
        open.delete(append)
        clearTimeout(deadline)
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
      const bytes = events.reduce((sum, event) => sum + event.data.length + event.metadata.length, 0)
      const state = { settled: false, inFlight: false, unsure: false }
      const append: Waiting = { stream, expected: revisionNumber(expected), events, bytes, settle, ...state }
      const deadline = setTimeout(() => refuse(append, trouble), deadlineMs)
      open.add(append)
      queue.push(append)
      draining ??= drain()
    })

  const append = async (stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) => {
    if (events.length === 0) throw new RangeError('an append needs an event')
    if (closed) throw new LogUnavailable(false)
    return enqueue(stream, expected, events)
  }

  const abandon = (reason: Error) => {
    for (const append of [...open]) refuse(append, reason)
  }

  const close = async () => {
    closed = true
    await draining
    await connection.end()
  }

  return { append, abandon, close }
}
