import type { Position, ReadOptions, RecordedEvent } from '../log.ts'
import type { Address } from './address.ts'
import type { Ask } from './retrying-client.ts'
import { newMask } from './truncation-filter.ts'
import type { OwnEvents } from './own-events.ts'
import type { Stored } from './read-response.ts'
import type { Questions } from './server-reads.ts'
import { newSweep } from './filtered-read.ts'
import { metadataStream } from './truncation-point.ts'

const FIRST_PAGE = 64
/** Much, because whoever reads to the end need not ask each stream for its truncation. */
const PAGE_EVENTS = 4_000
/** Less than this says nothing of what the log holds. */
const SAMPLE_EVENTS = 1_000
const LAST_REVISION = 2n ** 63n - 1n

export type Batch = {
  readonly events: readonly RecordedEvent[]
  readonly through: Position
  /** There was no more. */
  readonly isLast: boolean
  /** Most of what stands there is not ours. */
  readonly isSparse: boolean
}

export type BatchOptions = {
  readonly signal?: AbortSignal | undefined
  readonly count?: number
  /** As the batch before said: then the server looks through the log, instead of sending what is not ours. */
  readonly isSparse?: boolean | undefined
}

export type Reader = {
  /** Up to a page of the whole log behind a position; `through` also passes what is not ours. */
  page(after: Position, options?: BatchOptions): Promise<Batch>
  readAll(options: { readonly after: Position; readonly limit?: number }): AsyncIterable<RecordedEvent>
  read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>
}

export type ReaderOptions = {
  readonly ask: Ask
  readonly address: Address
  readonly questions: Questions
  readonly own: Pick<OwnEvents, 'recognised'>
}

/** Reads pages to their end: nothing stays open between them, so a reader may take its time, or stop. */
export const newReader = ({ ask, address, questions, own }: ReaderOptions): Reader => {
  const { credentials, prefix } = address
  const mask = newMask(questions, prefix)

  const ours = async (events: readonly Stored[], isToEnd: boolean): Promise<RecordedEvent[]> =>
    (await mask(events, isToEnd))
      .filter((event) => event.stream.startsWith(prefix))
      .map((event) => own.recognised({ ...event, stream: event.stream.slice(prefix.length) }))

  const prefixes = [prefix, metadataStream(prefix)]
  const sweep = newSweep(ask, questions, { credentials, prefixes })

  const page = async (
    after: Position,
    { signal, count = PAGE_EVENTS, ...before }: BatchOptions = {},
  ): Promise<Batch> => {
    const swept = before.isSparse ? await sweep(after, signal) : undefined
    if (swept) {
      const { events, through, isComplete } = swept
      return { events: await ours(events, isComplete), through, isLast: false, isSparse: !isComplete }
    }
    const wanted = (stream: string, position: bigint) =>
      position > after && prefixes.some((prefix) => stream.startsWith(prefix))
    // One more, because the first may be the one at `after` itself.
    const {
      events,
      through = after,
      isLast,
      seen,
    } = await questions.ofAll(after, {
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
    let next: Promise<Batch> | undefined = left > 0 ? page(after, { count }) : undefined
    while (next) {
      const { events, through, isLast, isSparse } = await next
      const taken = events.slice(0, left)
      left -= taken.length
      count = Math.min(count * 4, PAGE_EVENTS)
      // The next page is fetched while the reader has this one; its error is for whoever gets that far.
      next = isLast || left <= 0 ? undefined : page(through, { count, isSparse })
      next?.catch(() => {})
      yield* taken
    }
  }

  async function* read(stream: string, options: ReadOptions = {}) {
    const { backwards = false, from = backwards ? LAST_REVISION : 0n, limit = Number.POSITIVE_INFINITY } = options
    let [at, left, count] = [from > LAST_REVISION ? LAST_REVISION : from, limit, FIRST_PAGE]
    while (left > 0 && at >= 0n) {
      const { events, isLast } = await questions.ofStream(prefix + stream, at, {
        backwards,
        count: Math.min(count, left),
      })
      for (const event of events) yield { ...event, stream }
      if (isLast || events.length === 0) return
      at = events.at(-1)!.revision + (backwards ? -1n : 1n)
      left -= events.length
      count = Math.min(count * 4, PAGE_EVENTS)
    }
  }

  return { page, readAll, read }
}
