import { setTimeout } from 'node:timers/promises'
import {
  type Batch,
  type EventLog,
  type ExpectedRevision,
  LogChanged,
  type LogIdentity,
  type NewEvent,
  type Revision,
} from '../log.ts'
import { parseAddress } from './address.ts'
import { newAsk } from './retrying-client.ts'
import { newConnection } from './connection.ts'
import { newGuard } from './epoch-guard.ts'
import { type Identified, newIdentified } from './identity-store.ts'
import { type Look, newSharedReads } from './shared-reads.ts'
import { orAborted } from './or-aborted.ts'
import { newOwnEvents } from './own-events.ts'
import { toEventData } from './to-event-data.ts'
import { newQuestions } from './server-reads.ts'
import { newReader } from './reader.ts'
import { truncateStream } from './truncate.ts'
import { newWakeUps } from './wake-ups.ts'
import { newWriter } from './writer.ts'

const POLL_MS = 400
const RETRY_MS = 200
const BATCH_EVENTS = 1_000
/** Below the server's own default of 1 MiB. */
const MAX_APPEND_BYTES = 1024 * 1024 - 4096

export type EventStoreLogOptions = {
  /** As `EVENTSTORE_URL`: `parseAddress` says what it may hold. */
  readonly url: string
  readonly deadlineMs?: number
  /** Before the name of each stream. Default: the URL's `streamPrefix`, or `tracebook.` */
  readonly prefix?: string
  /** Bytes of data. Default: the URL's `maxAppendBytes`, or a little less than the server's own default of 1 MiB. */
  readonly maxAppendBytes?: number
  readonly observe?: (appends: number, events: number, ms: number) => void
}

const pause = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {})

/** A page as followers get it: they need not take more at once than they would from elsewhere. */
function* batchesOf({ events, through }: Batch): Generator<Batch> {
  for (let start = 0; start === 0 || start < events.length; start += BATCH_EVENTS) {
    const some = events.slice(start, start + BATCH_EVENTS)
    yield { events: some, through: start + BATCH_EVENTS < events.length ? some.at(-1)!.position : through }
  }
}

/**
 * The log in an EventStoreDB or KurrentDB cluster. Positions are commit positions.
 * @throws BadAddress
 */
export const openEventStoreLog = (options: EventStoreLogOptions): EventLog & Identified => {
  const { url, deadlineMs = 5_000, observe } = options
  const parsed = parseAddress(url)
  const address = { ...parsed, prefix: options.prefix ?? parsed.prefix }
  const maxAppendBytes = options.maxAppendBytes ?? parsed.maxAppendBytes ?? MAX_APPEND_BYTES
  const [forWriting, forReading] = [newConnection(address), newConnection(address)]
  const ask = newAsk(forReading, deadlineMs)
  const questions = newQuestions(ask, address, deadlineMs)
  const own = newOwnEvents()
  const { page, read, readAll } = newReader({ ask, address, questions, own })
  const wakeUps = newWakeUps(forReading, address)
  const { head, sees } = questions
  const writer = newWriter({ connection: forWriting, address, deadlineMs, head, sees, observe })
  const closing = new AbortController()
  const identified = newIdentified(questions, writer, address.prefix)
  const listeners: ((identity: LogIdentity) => void)[] = []
  const guard = newGuard([forReading, forWriting], identified, (identity) => {
    sharedReads.forget()
    for (const listener of listeners) listener(identity)
  })

  const append = async (stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) => {
    // The server would take it, and answer with a revision that does not exist.
    if (events.length === 0) throw new RangeError('an append needs an event')
    const written = events.map(toEventData)
    own.sent(events)
    const generation = guard.generation()
    const assertSame = () => guard.assertSame(generation)
    const answer = await writer.append(address.prefix + stream, expected, written, assertSame)
    wakeUps.wake()
    return answer
  }

  /** False when that cannot be known now. @throws LogChanged */
  const isSame = async (generation: number): Promise<boolean> => {
    try {
      await guard.assertSame(generation)
      return true
    } catch (error) {
      if (error instanceof LogChanged) throw error
      return false
    }
  }

  const lastRevision = async (stream: string) => (await questions.last(address.prefix + stream))?.revision ?? 'none'

  const sharedReads = newSharedReads({ version: wakeUps.version, read: page })

  async function* follow({ after, signal }: { after: bigint; signal: AbortSignal }): AsyncIterable<Batch> {
    const end = AbortSignal.any([signal, closing.signal])
    const generation = guard.generation()
    let at = after
    let woken = true
    let next: Look | undefined
    try {
      while (!end.aborted) {
        const look = next ?? sharedReads.at(at)
        next = undefined
        const read = await orAborted(look.page, end)
        if (end.aborted) return look.leave()
        const page = read && (await isSame(generation)) ? read : undefined
        guard.saw(page?.events.at(-1))
        next = page && !page.isLast ? sharedReads.at(page.through, page.isSparse) : undefined // while the follower has this one
        if (page) {
          if (!woken && page.events.length > 0) wakeUps.missed()
          at = page.through
          yield* batchesOf(page) // perhaps nothing new, but heard of
        }
        if (!page) await pause(RETRY_MS, end)
        woken = page?.isLast ? await wakeUps.changed(look.seen, POLL_MS, end) : true
      }
    } finally {
      next?.leave()
    }
  }

  const truncate = async (stream: string, before: Revision) => {
    await truncateStream(questions, writer, address.prefix + stream, before)
    sharedReads.forget()
  }

  let closed: Promise<void> | undefined
  const close = () => (closed ??= shut())
  const shut = async () => {
    await writer.close()
    closing.abort()
    wakeUps.close()
    await Promise.all([forWriting.close(), forReading.close()])
  }

  const onChange = (listener: (identity: LogIdentity) => void) => void listeners.push(listener)
  return {
    append,
    read,
    lastRevision,
    readAll,
    follow,
    truncate,
    head,
    ...identified,
    identity: guard.identity,
    onChange,
    maxAppendBytes,
    close,
  }
}
