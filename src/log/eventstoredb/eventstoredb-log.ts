import {
  type Batch,
  type EventLog,
  type ExpectedRevision,
  LogChanged,
  type LogIdentity,
  type NewEvent,
  type Revision,
  type StoredRecord,
} from '../log.ts'
import { pause } from '../../pause.ts'
import { REQUEST_WAIT_MS } from '../../request-wait.ts'
import { parseAddress } from './address.ts'
import { proposedEvent } from './append-request.ts'
import { newRetryingRead } from './retrying-client.ts'
import { newConnection } from './connection.ts'
import { newEpochGuard } from './epoch-guard.ts'
import { type IdentityStore, newIdentityStore } from './identity-store.ts'
import { type SharedRead, newSharedReads } from './shared-reads.ts'
import { orAborted } from './or-aborted.ts'
import { newOwnEvents } from './own-events.ts'
import { newServerReads } from './server-reads.ts'
import { newReader } from './reader.ts'
import { truncateStream } from './truncate.ts'
import { newWakeUps } from './wake-ups.ts'
import { newWriter } from './writer.ts'

const POLL_MS = 400
const RETRY_MS = 200
const BATCH_EVENTS = 1_000
/** A little less than the server's default limit of 1 MiB. */
const MAX_APPEND_BYTES = 1024 * 1024 - 4096

export type EventStoreLogOptions = {
  /** An address as in `EVENTSTORE_URL` (`parseAddress`). */
  readonly url: string
  /** How long an append or a read may take before it is answered with LogUnavailable. Default: as long as a request waits. */
  readonly deadlineMs?: number
  /** What the name of each stream begins with. Default: the URL's `streamPrefix`, or `tracebook.` */
  readonly prefix?: string
  /** Bytes of data in one append. Default: the URL's `maxAppendBytes`, or a little less than the server's default limit of 1 MiB. */
  readonly maxAppendBytes?: number
  readonly observe?: (appends: number, events: number, ms: number) => void
}

/** Cuts a page into batches as small as those that followers of a log in PostgreSQL get. */
function* batchesOf({ events, through }: Batch<StoredRecord>): Generator<Batch<StoredRecord>> {
  for (let start = 0; start === 0 || start < events.length; start += BATCH_EVENTS) {
    const some = events.slice(start, start + BATCH_EVENTS)
    yield { events: some, through: start + BATCH_EVENTS < events.length ? some.at(-1)!.position : through }
  }
}

/**
 * The log in an EventStoreDB or KurrentDB cluster. Positions are commit positions.
 * @throws BadAddress
 */
export const openEventStoreLog = (options: EventStoreLogOptions): EventLog<StoredRecord> & IdentityStore => {
  const { url, deadlineMs = REQUEST_WAIT_MS, observe } = options
  const parsed = parseAddress(url)
  const address = { ...parsed, prefix: options.prefix ?? parsed.prefix }
  const maxAppendBytes = options.maxAppendBytes ?? parsed.maxAppendBytes ?? MAX_APPEND_BYTES
  const [forWriting, forReading] = [newConnection(address), newConnection(address)]
  const retryingRead = newRetryingRead(forReading, deadlineMs)
  const serverReads = newServerReads(retryingRead, address, deadlineMs)
  const ownEvents = newOwnEvents()
  const { page, read, readAll, readRevisions } = newReader({
    retryingRead,
    address,
    serverReads,
    ownEvents,
    watch: () => watch(),
  })
  const wakeUps = newWakeUps(forReading, address)
  const { head, canReadUpTo } = serverReads
  const writer = newWriter({ connection: forWriting, address, deadlineMs, head, canReadUpTo, observe })
  const closing = new AbortController()
  const identityStore = newIdentityStore(serverReads, writer, address.prefix)
  const listeners: ((identity: LogIdentity) => void)[] = []
  const guard = newEpochGuard([forReading, forWriting], identityStore, (identity) => {
    sharedReads.forget()
    for (const listener of listeners) listener(identity)
  })

  /** For what is read: a decision must not rest on a log that has lost its end, while caches and read models have not noticed. */
  const watch = () => {
    const generation = guard.generation()
    return () => guard.assertSame(generation)
  }

  const append = async (stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) => {
    // The server would accept an empty append, and answer with a revision that does not exist.
    if (events.length === 0) throw new RangeError('an append needs an event')
    const proposed = events.map(proposedEvent)
    ownEvents.remember(events)
    const assertSame = watch()
    const answer = await writer.append(address.prefix + stream, expected, proposed, assertSame)
    wakeUps.increment()
    return answer
  }

  /** Whether the log is still in this generation; false while it cannot be reached. @throws LogChanged */
  const isSame = async (generation: number): Promise<boolean> => {
    try {
      await guard.assertSame(generation)
      return true
    } catch (error) {
      if (error instanceof LogChanged) throw error
      return false
    }
  }

  const lastRevision = async (stream: string) => {
    const assertSame = watch()
    const last = await serverReads.lastEvent(address.prefix + stream)
    await assertSame()
    return last?.revision ?? 'none'
  }

  const sharedReads = newSharedReads({ count: wakeUps.count, read: page })

  async function* follow({
    after,
    signal,
  }: {
    after: bigint
    signal: AbortSignal
  }): AsyncIterable<Batch<StoredRecord>> {
    const end = AbortSignal.any([signal, closing.signal])
    const generation = guard.generation()
    let position = after
    let isWoken = true
    let next: SharedRead | undefined
    try {
      while (!end.aborted) {
        const read = next ?? sharedReads.behind(position)
        next = undefined
        const found = await orAborted(read.page, end)
        if (end.aborted) return read.leave()
        // Also after a read that failed: where the log has lost its end, no record may stand at this position any more.
        const usable = (await isSame(generation)) ? found : undefined
        const joined = usable && sharedReads.joined({ page: usable, seen: read.seen }, BATCH_EVENTS)
        const page = joined?.page
        guard.noteRead(page?.events.at(-1))
        // The next page is read while the follower works on this one.
        next = page && !page.isLast ? sharedReads.behind(page.through, page.isSparse) : undefined
        if (page) {
          if (!isWoken && page.events.length > 0) wakeUps.restart()
          position = page.through
          yield* batchesOf(page) // also an empty one: it tells the follower that the log answers
        }
        if (!page) await pause(RETRY_MS, end)
        isWoken = joined?.page.isLast ? await wakeUps.changed(joined.seen, POLL_MS, end) : true
      }
    } finally {
      next?.leave()
    }
  }

  const truncate = async (stream: string, before: Revision) => {
    await truncateStream(serverReads, writer, address.prefix + stream, before)
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
    readRevisions,
    lastRevision,
    readAll,
    follow,
    truncate,
    head,
    ...identityStore,
    identity: guard.identity,
    onChange,
    maxAppendBytes,
    close,
  }
}
