import type pg from 'pg'
import { attemptMs } from '../../../base/waits.ts'
import { isDiskFull, isTransient } from '../../postgres/errors.ts'
import { type EventLog, LogUnavailable, revisionNumber, type StoredRecord } from '../log.ts'
import { type BatchResult, type EncodedAppend, prepareAppend } from './append-statement.ts'
import { newConnection, NotDurable } from './connection.ts'
import { giveUp, newPendingAppend, type PendingAppend } from './pending-append.ts'

const BATCH_APPENDS = 512
const BATCH_CHARACTERS = 8 * 1024 * 1024

/** The waiting appends. The next `take` removes those that have been answered meanwhile. */
const newAppendQueue = () => {
  let pending: PendingAppend[] = []

  /** The next batch: at most 512 appends and 8 MiB, and only the oldest one of each stream. */
  const take = () => {
    const batch: PendingAppend[] = []
    const later: PendingAppend[] = []
    const streams = new Set<string>()
    let characters = 0
    for (const append of pending) {
      if (append.isSettled()) continue
      const isSmallEnough = batch.length < BATCH_APPENDS && characters + append.characters <= BATCH_CHARACTERS
      const fits = batch.length === 0 || isSmallEnough
      if (fits && !streams.has(append.stream)) {
        batch.push(append)
        characters += append.characters
      } else later.push(append)
      streams.add(append.stream)
    }
    pending = later
    return batch
  }

  return {
    push: (append: PendingAppend) => void pending.push(append),

    /** Puts appends that have to be tried again before all others. */
    putBack: (batch: readonly PendingAppend[]) => void (pending = [...batch, ...pending]),
    take,
    hasWaiting: () => pending.some((append) => !append.isSettled()),
  }
}

const RECONNECT_MS = 100

type Writer = {
  append: EventLog['append']
  /** Refuses all appends, pending and later ones: the log has another epoch, so it may lack events that they build on. */
  abandon(reason: Error): void
  /** Accepts no more appends, answers the pending ones, then closes the connection. */
  close(): Promise<void>
}

type WriterOptions = {
  readonly url: string
  /** How long an append may take before it is answered with LogUnavailable. */
  readonly deadlineMs: number
  /** Checks the log's identity over a new connection before it is used. */
  readonly verify: (client: pg.Client) => Promise<void>
  /**
   * Called when the log has grown, before the appends are answered, with the new events: in order and without gaps. Without
   * events if an earlier statement had stored them, whose answer was lost.
   */
  readonly committed: (events: readonly StoredRecord[]) => void
  /** Appends, events and milliseconds of each batch, for the metrics. */
  readonly observe?: (appends: number, events: number, ms: number) => void
}

type Encoded = EncodedAppend & { readonly append: PendingAppend }

/** Nothing of this attempt has been stored, and a retry cannot succeed. The cause is the error. */
class PermanentError extends Error {}

/**
 * Group commit: appends wait in a queue. One connection writes up to 512 of them (8 MiB, one of each stream) in a single
 * statement, and each is answered separately. After a lost connection they are sent again with the same ids, which is safe.
 */
export const newWriter = ({ url, deadlineMs, verify, committed, observe }: WriterOptions): Writer => {
  const queue = newAppendQueue()
  const connection = newConnection(url, deadlineMs, verify)
  let draining: Promise<void> | undefined
  const unanswered = new Set<PendingAppend>()
  let lastError: unknown
  let refused: Error | undefined

  /** @throws PermanentError if connecting again would fail as well */
  const connect = () =>
    connection.get().catch((error) => {
      throw error instanceof NotDurable || !isTransient(error) ? new PermanentError('', { cause: error }) : error
    })

  const send = async (batch: readonly Encoded[], client: pg.Client): Promise<BatchResult> => {
    const statement = prepareAppend(batch)
    for (const { append } of batch) append.inFlight = true
    try {
      return await statement(client)
    } catch (error) {
      if (isTransient(error) && !isDiskFull(error)) for (const { append } of batch) append.maybeStored = true
      throw error
    } finally {
      for (const { append } of batch) append.inFlight = false
    }
  }

  const write = async (appends: readonly PendingAppend[]) => {
    const client = await connect()
    const encoded: Encoded[] = []
    for (const append of appends) {
      const { rows } = append
      encoded.push({ append, rows: rows instanceof Promise ? await rows : rows })
    }
    const batch = encoded.filter(({ append }) => !append.isSettled()) // one that was answered as not stored must not be stored
    if (batch.length === 0) return
    const started = performance.now()
    const { answers, newEvents } = await send(batch, client)
    lastError = undefined
    observe?.(batch.length, newEvents.length, performance.now() - started)
    if (answers.some((answer) => !(answer instanceof Error))) committed(newEvents)
    for (const [i, { append }] of batch.entries()) append.settle(answers[i]!)
  }

  /** Connects and writes. Drops the connection if that takes so long that only another one may still help. */
  const writeInTime = async (batch: readonly PendingAppend[]) => {
    const timeout = setTimeout(connection.drop, attemptMs(deadlineMs))
    await write(batch).finally(() => clearTimeout(timeout))
  }

  /**
   * Depending on the error, refuses the batch, leaves it to be tried again, or finds the append that causes it by bisection. Returns what has to
   * be tried again over another connection.
   */
  const handleFailure = async (batch: readonly PendingAppend[], error: unknown): Promise<readonly PendingAppend[]> => {
    if (error instanceof PermanentError) for (const append of batch) giveUp(append, error.cause)
    else if (isDiskFull(error)) for (const append of batch) giveUp(append, error)
    else if (isTransient(error)) {
      lastError = error
      connection.drop()
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
      return batch
    } else if (batch.length === 1) batch[0]!.settle(error as Error)
    else {
      const [first, second] = [batch.slice(0, batch.length >> 1), batch.slice(batch.length >> 1)]
      const left = await attempt(first)
      return left.length > 0 ? [...left, ...second] : attempt(second)
    }
    return []
  }

  const attempt = (batch: readonly PendingAppend[]): Promise<readonly PendingAppend[]> =>
    writeInTime(batch).then(
      () => [],
      (error) => handleFailure(batch, error),
    )

  const drain = async () => {
    while (queue.hasWaiting()) {
      await new Promise(setImmediate) // so that all appends of this turn of the event loop are in one batch
      const batch = queue.take()
      if (batch.length > 0) queue.putBack(await attempt(batch))
    }
    draining = undefined
  }

  const append: Writer['append'] = async (stream, expected, events) => {
    if (events.length === 0) throw new RangeError('an append needs at least one event')
    if (refused) throw refused
    const what = { stream, expected: revisionNumber(expected), events }
    const onSettled = (settled: PendingAppend) => void unanswered.delete(settled)
    const pending = newPendingAppend(what, deadlineMs, { lastError: () => lastError, onSettled })
    unanswered.add(pending)
    queue.push(pending)
    draining ??= drain()
    return pending.answered
  }

  const abandon = (reason: Error) => {
    refused = reason
    for (const append of [...unanswered]) giveUp(append, reason)
  }

  const close = async () => {
    refused ??= new LogUnavailable(false)
    await draining
    await connection.end()
  }

  return { append, abandon, close }
}
