import { type Anchor, type EventLog, type NewEpoch, type Position, type Revision, type StoredRecord } from '../log.ts'
import { REQUEST_WAIT_MS, attemptMs } from '../../../base/waits.ts'
import { parseAddress } from './address.ts'
import { proposedEvent } from './append-request.ts'
import { newRetryingRead } from './retrying-client.ts'
import { newConnection } from './connection.ts'
import { newEpochGuard } from './epoch-guard.ts'
import { type IdentityStore, newIdentityStore } from './identity-store.ts'
import { newFollow } from './follow.ts'
import { newSharedReads } from './shared-reads.ts'
import { newOwnEvents } from './own-events.ts'
import { newServerReads } from './server-reads.ts'
import { newOwnStreams } from './own-streams.ts'
import { newReader } from './reader.ts'
import { truncateStream } from './stream-metadata.ts'
import { newWakeUps } from './wake-ups.ts'
import { newWriter } from './writer.ts'

/** A little less than the server's default limit of 1 MiB. */
const MAX_APPEND_BYTES = 1024 * 1024 - 4096

export type EventStoreLogOptions = {
  /** As in `EVENTSTORE_URL` (`parseAddress`). */
  readonly url: string
  /** How long an append or a read may take before it is answered with LogUnavailable. Default: as long as a request waits. */
  readonly deadlineMs?: number
  /** The beginning of the name of each stream. Default: the URL's `streamPrefix`, or `tracebook.` */
  readonly prefix?: string
  /** Bytes of data in one append. Default: the URL's `maxAppendBytes`, or a little less than the server's default limit of 1 MiB. */
  readonly maxAppendBytes?: number
  readonly observe?: (appends: number, events: number, ms: number) => void
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
  const ownStreams = newOwnStreams(address.prefix)
  const [forWriting, forReading] = [newConnection(address), newConnection(address)]
  const retryingRead = newRetryingRead(forReading, deadlineMs)
  const serverReads = newServerReads(retryingRead, address, attemptMs(deadlineMs))
  const ownEvents = newOwnEvents()
  const { page, ...reads } = newReader({
    retryingRead,
    address,
    ownStreams,
    serverReads,
    ownEvents,
    identityRead: forReading.noteFailure, // so that the identity is verified
    truncationRead: (position) => sharedReads.forget(position),
    assertSame: () => guard.assertSame(),
  })
  const wakeUps = newWakeUps(forReading, address, ownStreams)
  const { canReadUpTo } = serverReads
  const writer = newWriter({
    connection: forWriting,
    address,
    deadlineMs,
    head: serverReads.head,
    canReadUpTo,
    observe,
  })
  const closing = new AbortController()
  const identityStore = newIdentityStore(serverReads, writer, { prefix: address.prefix, ownStreams })
  const listeners: ((epoch: NewEpoch) => void)[] = []
  const guard = newEpochGuard([forReading, forWriting], identityStore, (identity) => {
    for (const listener of listeners) listener(identity)
  })

  const append: EventLog['append'] = async (stream, expected, events) => {
    // The server would accept an empty append, and answer with a revision that does not exist.
    if (events.length === 0) throw new RangeError('an append needs at least one event')
    const fullName = address.prefix + stream
    if (!ownStreams.isOwn(fullName))
      throw new TypeError(`the name of a stream must not contain ${address.prefix.at(-1)}`)
    const proposed = events.map(proposedEvent)
    ownEvents.remember(events)
    const answer = await writer.append(fullName, expected, proposed, guard.assertSame)
    wakeUps.increment()
    return answer
  }

  /** What was read, if the log is still the same then. @throws LogChanged */
  const ofSame = async <T>(read: Promise<T>): Promise<T> => {
    const found = await read
    await guard.assertSame()
    return found
  }
  const last = (stream: string) => ofSame(serverReads.lastEvent(address.prefix + stream))
  const head = () => ofSame(serverReads.head())
  const holds = (position: Position, id: string) => ofSame(identityStore.holds(position, id))

  const sharedReads = newSharedReads({ count: wakeUps.count, read: page, guard })
  const follow = newFollow({ guard, sharedReads, wakeUps, closing: closing.signal })

  const truncate = async (stream: string, before: Revision, held?: Anchor) => {
    await guard.assertSame()
    if (held && (await identityStore.holds(held.position, held.id)) === false) return
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

  const onChange = (listener: (epoch: NewEpoch) => void) => void listeners.push(listener)
  return {
    append,
    ...reads,
    last,
    follow,
    truncate,
    head,
    storedIdentity: identityStore.storedIdentity,
    holds,
    identity: guard.identity,
    renewEpoch: guard.renewEpoch,
    onChange,
    maxAppendBytes,
    close,
  }
}
