import { BACKWARDS, END, type EventStoreDBClient, FORWARDS, START } from '@eventstore/db-client'
import type { Position } from '../log.ts'
import type { Address } from './address.ts'
import type { RetryingRead } from './retrying-client.ts'
import { isNoRecord } from './errors.ts'
import { type Page, type PageOptions, passThrough, readPage } from './page.ts'
import type { StoredEvent } from './read-response.ts'
import { metadataStream, parseMetadata, truncationPoint } from './stream-metadata.ts'

type AllOptions = Omit<PageOptions, 'timeoutMs'> & { readonly backwards?: boolean }

/** Reads from the server, with full names of streams. Each call is tried again, and throws LogUnavailable at the deadline. */
export type ServerReads = {
  /** A page of the whole log, from a position (inclusive; backwards: exclusive), or backwards from the end. */
  pageOfAll(from: Position | 'end', options: AllOptions): Promise<Page>
  /** A page of a stream, from a revision (inclusive). */
  pageOfStream(stream: string, from: bigint | 'end', options: { backwards: boolean; count: number }): Promise<Page>
  /** The last event of a stream. */
  lastEvent(stream: string): Promise<StoredEvent | undefined>
  /** Whether a stream can be read up to a revision, or has been deleted beyond it. */
  canReadUpTo(stream: string, revision: bigint): Promise<boolean>
  /** The record at a position, or the next one after it; undefined beyond the end. */
  recordAt(position: Position): Promise<StoredEvent | 'not a record' | undefined>
  /** The position of the last record before another one; undefined if there is none, or no record at `position`. */
  positionBefore(position: Position): Promise<Position | undefined>
  head(): Promise<Position>
}

/** All reads go to the leader: another node may not have the newest events yet. A read fails after `timeoutMs` of silence, and is tried again. */
export const newServerReads = (
  retryingRead: RetryingRead,
  { credentials }: Address,
  timeoutMs: number,
): ServerReads => {
  const common = { credentials, requiresLeader: true }

  const startAt = (from: Position | 'end') => {
    if (from === 'end') return END
    return from > 0n ? { commit: from, prepare: from } : START
  }

  const onePage = (client: EventStoreDBClient, options: AllOptions, from: Position | 'end') => {
    const fromPosition = startAt(from)
    const direction = from === 'end' || options.backwards ? BACKWARDS : FORWARDS
    const source = client.readAll({ ...common, fromPosition, direction, maxCount: options.count }, passThrough)
    return readPage(source, { ...options, timeoutMs })
  }

  const pageOfAll = (from: Position | 'end', options: AllOptions) =>
    retryingRead((client) => onePage(client, options, from), options.signal)

  const pageOfStream: ServerReads['pageOfStream'] = (stream, from, { backwards, count }) =>
    retryingRead((client) => {
      const fromRevision = from === 'end' ? END : from
      const direction = backwards ? BACKWARDS : FORWARDS
      const source = client.readStream(stream, { ...common, fromRevision, direction, maxCount: count }, passThrough)
      return readPage(source, { count, timeoutMs })
    })

  const lastEvent = async (stream: string) =>
    (await pageOfStream(stream, 'end', { backwards: true, count: 1 })).events[0]

  const recordAt = (position: Position) => {
    let refusals = 0
    return retryingRead(async (client) => {
      try {
        return (await onePage(client, { count: 1 }, position)).events[0]
      } catch (error) {
        // The server may send the same error for another reason: it only counts the second time.
        if (!isNoRecord(error) || ++refusals === 1) throw error
        return 'not a record' as const
      }
    })
  }

  const positionBefore = (position: Position) =>
    retryingRead((client) =>
      onePage(client, { count: 1, backwards: true }, position).then(
        ({ through }) => through,
        (error) => {
          if (!isNoRecord(error)) throw error
          return undefined
        },
      ),
    )

  const head = async () => (await pageOfAll('end', { count: 1 })).through ?? 0n

  const canReadUpTo = async (stream: string, revision: bigint) => {
    const end = await lastEvent(stream)
    if (end) return end.revision >= revision
    // Truncation leaves the last event in a stream. Only a deletion by an operator leaves none, which is stored as a truncation.
    const metadata = await lastEvent(metadataStream(stream))
    return metadata !== undefined && truncationPoint(parseMetadata(metadata.data)) > revision
  }

  return { pageOfAll, pageOfStream, lastEvent, canReadUpTo, recordAt, positionBefore, head }
}
