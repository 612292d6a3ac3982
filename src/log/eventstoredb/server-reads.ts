import { BACKWARDS, END, type EventStoreDBClient, FORWARDS, START } from '@eventstore/db-client'
import type { Position } from '../log.ts'
import type { Address } from './address.ts'
import type { Ask } from './retrying-client.ts'
import { isNoRecord } from './errors.ts'
import { type Page, type PageOptions, asSent, readPage } from './page.ts'
import type { Stored } from './read-response.ts'
import { metadataStream, parseMetadata, truncationPoint } from './truncation-point.ts'

export type AllOptions = Omit<PageOptions, 'patienceMs'> & { readonly backwards?: boolean }

/** What the server is asked; streams by their full names. Each throws LogUnavailable at the deadline. */
export type Questions = {
  /** A page of everything, from a position on (inclusive; backwards: exclusive), or backwards from the end. */
  ofAll(from: Position | 'end', options: AllOptions): Promise<Page>
  /** A page of a stream, from a revision on, inclusive. */
  ofStream(stream: string, from: bigint | 'end', options: { backwards: boolean; count: number }): Promise<Page>
  /** The last event of a stream. */
  last(stream: string): Promise<Stored | undefined>
  /** Whether all of a stream up to a revision can be read, or is gone for good. */
  sees(stream: string, revision: bigint): Promise<boolean>
  /** What stands at a position, or else the next behind it; nothing beyond the end. */
  at(position: Position): Promise<Stored | 'not a record' | undefined>
  /** The position of the last record before one; nothing when there is none, or no record at `position`. */
  before(position: Position): Promise<Position | undefined>
  head(): Promise<Position>
}

/** Each goes to the leader: another node may not have what has just been written. */
export const newQuestions = (ask: Ask, { credentials }: Address, patienceMs: number): Questions => {
  const common = { credentials, requiresLeader: true }

  const onePage = (client: EventStoreDBClient, options: AllOptions, from: Position | 'end') => {
    const fromPosition = from === 'end' ? END : from > 0n ? { commit: from, prepare: from } : START
    const direction = from === 'end' || options.backwards ? BACKWARDS : FORWARDS
    const source = client.readAll({ ...common, fromPosition, direction, maxCount: options.count }, asSent)
    return readPage(source, { ...options, patienceMs })
  }

  const ofAll = (from: Position | 'end', options: AllOptions) =>
    ask((client) => onePage(client, options, from), options.signal)

  const ofStream: Questions['ofStream'] = (stream, from, { backwards, count }) =>
    ask((client) => {
      const fromRevision = from === 'end' ? END : from
      const direction = backwards ? BACKWARDS : FORWARDS
      const source = client.readStream(stream, { ...common, fromRevision, direction, maxCount: count }, asSent)
      return readPage(source, { count, patienceMs })
    })

  const last = async (stream: string) => (await ofStream(stream, 'end', { backwards: true, count: 1 })).events[0]

  const at = (position: Position) => {
    let refusals = 0
    return ask(async (client) => {
      try {
        return (await onePage(client, { count: 1 }, position)).events[0]
      } catch (error) {
        // A read that failed for another reason is refused in the same words: only twice is an answer.
        if (!isNoRecord(error) || ++refusals === 1) throw error
        return 'not a record' as const
      }
    })
  }

  const before = (position: Position) =>
    ask((client) =>
      onePage(client, { count: 1, backwards: true }, position).then(
        ({ through }) => through,
        (error) => {
          if (!isNoRecord(error)) throw error
          return undefined
        },
      ),
    )

  const head = async () => (await ofAll('end', { count: 1 })).through ?? 0n

  const sees = async (stream: string, revision: bigint) => {
    const end = await last(stream)
    if (end) return end.revision >= revision
    // The last event stays in a stream, unless the stream was deleted by hand: that is written as a truncation.
    const metadata = await last(metadataStream(stream))
    return metadata !== undefined && truncationPoint(parseMetadata(metadata.data)) > revision
  }

  return { ofAll, ofStream, last, sees, at, before, head }
}
