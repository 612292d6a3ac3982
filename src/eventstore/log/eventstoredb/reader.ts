import type { Position, ReadOptions, Revision, StoredRecord } from '../log.ts'
import type { Address } from './address.ts'
import { newFilteredRead } from './filtered-read.ts'
import { identityStream } from './identity-store.ts'
import type { OwnEvents } from './own-events.ts'
import type { OwnStreams } from './own-streams.ts'
import type { StoredEvent } from './read-response.ts'
import type { RetryingRead } from './retrying-client.ts'
import type { ServerReads } from './server-reads.ts'
import { METADATA, metadataStream, parseMetadata, truncationPoint } from './stream-metadata.ts'

/** Leaves out truncated events. `events` are consecutive events of the log; `isToEnd` says whether they reach its end. */
type TruncationFilter = (events: readonly StoredEvent[], isToEnd: boolean) => Promise<readonly StoredEvent[]>

const isTruncation = ({ type, stream }: StoredEvent) => type === METADATA && stream.startsWith('$$')

/**
 * Reads of the whole log return truncated events until the server scavenges them. A truncation is recorded after the events that it
 * truncates: a page up to the log's end contains all truncations of its events; for other pages the metadata of the streams is
 * read.
 */
const newTruncationFilter =
  ({ lastEvent }: Pick<ServerReads, 'lastEvent'>, { nameOf }: Pick<OwnStreams, 'nameOf'>): TruncationFilter =>
  async (events, isToEnd) => {
    const points = new Map<string, bigint>()
    for (const event of events)
      if (isTruncation(event)) points.set(event.stream.slice(2), truncationPoint(parseMetadata(event.data)))
    const readPoint = async (stream: string) => {
      const metadata = await lastEvent(metadataStream(stream))
      if (metadata) points.set(stream, truncationPoint(parseMetadata(metadata.data)))
    }
    const streams = new Set(events.map(({ stream }) => stream).filter((stream) => nameOf(stream) !== undefined))
    if (!isToEnd) await Promise.all([...streams].map(readPoint))
    return events.filter(({ stream, revision }) => revision >= (points.get(stream) ?? 0n))
  }

/** The number of events in the first page of a read; each page has four times as many as the one before, up to `PAGE_EVENTS`. */
const FIRST_PAGE = 64
/** Large, because a page up to the log's end needs no reads of stream metadata. */
const PAGE_EVENTS = 4_000
/** Fewer events do not show how many of the log's events are of Tracebook. */
const SAMPLE_EVENTS = 1_000
const LAST_REVISION = 2n ** 63n - 1n

export type ReadPage = {
  readonly events: readonly StoredRecord[]
  /** The page has all events of Tracebook up to this position. */
  readonly through: Position
  /** Whether it reaches the end of the log. */
  readonly isLast: boolean
  /** Whether most events there belong to other applications. */
  readonly isSparse: boolean
}

type ReadPageOptions = {
  readonly signal?: AbortSignal | undefined
  readonly count?: number
  /** Whether the previous page was sparse: then the server filters the events, instead of sending those of others. */
  readonly isSparse?: boolean | undefined
}

type ReaderOptions = {
  readonly retryingRead: RetryingRead
  readonly address: Address
  readonly ownStreams: OwnStreams
  readonly serverReads: ServerReads
  readonly ownEvents: Pick<OwnEvents, 'withDecoded'>
  /** Called when a page has a record of the log's identity, which may be a change. */
  readonly identityRead: () => void
  /** Called with the position of the last truncation in a page: pages of before may have truncated events. */
  readonly truncationRead: (position: Position) => void
  /**
   * A decision must not be made on a log that has lost its end, while caches and read models have not noticed.
   * @throws LogChanged if the log's epoch has changed
   */
  readonly assertSame: () => Promise<void>
}

/** The largest difference of two successive revisions that are read together. */
const FEW_BETWEEN = 4n

/** Splits ascending revisions into runs that are read together: between two members of a run there are only a few other revisions. */
const runsOf = (revisions: readonly Revision[]): Revision[][] => {
  const runs: Revision[][] = []
  for (const revision of revisions) {
    const last = runs.at(-1)
    if (last && revision - last.at(-1)! <= FEW_BETWEEN) last.push(revision)
    else runs.push([revision])
  }
  return runs
}

/** Reads in pages: no call to the server stays open between two of them, so the consumer may be slow or stop early. */
export const newReader = (options: ReaderOptions) => {
  const { retryingRead, address, ownStreams, serverReads, ownEvents, identityRead, truncationRead, assertSame } =
    options
  const { credentials, prefix } = address
  const withoutTruncated = newTruncationFilter(serverReads, ownStreams)

  const ours = async (events: readonly StoredEvent[], isToEnd: boolean): Promise<StoredRecord[]> => {
    if (events.some(({ stream }) => stream === identityStream(prefix))) identityRead()
    const truncation = events.findLast(isTruncation)
    if (truncation) truncationRead(truncation.position)
    const left = await withoutTruncated(events, isToEnd)
    return left.flatMap((event) => {
      const stream = ownStreams.nameOf(event.stream)
      return stream === undefined ? [] : [ownEvents.withDecoded({ ...event, stream })]
    })
  }

  const readFiltered = newFilteredRead(retryingRead, serverReads, { credentials, ownStreams })

  /** A page of Tracebook's events in the whole log, after a position. */
  const page = async (
    after: Position,
    { signal, count = PAGE_EVENTS, ...before }: ReadPageOptions = {},
  ): Promise<ReadPage> => {
    const filtered = before.isSparse ? await readFiltered(after, signal) : undefined
    if (filtered) {
      const { events, through, isComplete } = filtered
      return { events: await ours(events, isComplete), through, isLast: false, isSparse: !isComplete }
    }
    const wanted = (stream: string, position: bigint) => position > after && ownStreams.isOwn(stream)
    // One more event than asked for, because the first one may be the event at `after`.
    const {
      events,
      through = after,
      isLast,
      seen,
    } = await serverReads.pageOfAll(after, {
      count: count + 1,
      sample: SAMPLE_EVENTS,
      wanted,
      signal,
    })
    const isSparse = !isLast && seen >= SAMPLE_EVENTS && events.length * 2 < seen
    return { events: await ours(events, isLast), through, isLast, isSparse }
  }

  async function* readAll({ after, limit = Number.POSITIVE_INFINITY }: { after: Position; limit?: number }) {
    let [left, count] = [limit, FIRST_PAGE]
    let next: Promise<ReadPage> | undefined = left > 0 ? page(after, { count }) : undefined
    while (next) {
      const { events, through, isLast, isSparse } = await next
      await assertSame()
      const taken = events.slice(0, left)
      left -= taken.length
      count = Math.min(count * 4, PAGE_EVENTS)
      // The next page is read while the consumer works on this one. Its error is thrown when the consumer gets there.
      next = isLast || left <= 0 ? undefined : page(through, { count, isSparse })
      next?.catch(() => {})
      yield* taken
    }
  }

  async function* read(stream: string, options: ReadOptions = {}) {
    const { backwards = false, from = backwards ? LAST_REVISION : 0n, limit = Number.POSITIVE_INFINITY } = options
    let [revision, left, count] = [from > LAST_REVISION ? LAST_REVISION : from, limit, FIRST_PAGE]
    while (left > 0 && revision >= 0n) {
      const { events, isLast } = await serverReads.pageOfStream(prefix + stream, revision, {
        backwards,
        count: Math.min(count, left),
      })
      await assertSame()
      for (const event of events) yield { ...event, stream }
      if (isLast || events.length === 0) return
      revision = events.at(-1)!.revision + (backwards ? -1n : 1n)
      left -= events.length
      count = Math.min(count * 4, PAGE_EVENTS)
    }
  }

  /** Reads neighbouring revisions together, with the events between them: one more call would cost more than reading some events in vain. */
  async function* readRevisions(stream: string, revisions: readonly Revision[]) {
    for (const run of runsOf(revisions)) {
      const wanted = new Set(run)
      const limit = Number(run.at(-1)! - run[0]!) + 1
      for await (const event of read(stream, { from: run[0]!, limit })) if (wanted.has(event.revision)) yield event
    }
  }

  return { page, readAll, read, readRevisions }
}
