import { newId } from '../../../../src/base/ids.ts'
import type { EventLog, NewEvent, RecordedEvent } from '../../../../src/eventstore/log/log.ts'

/** The events of one append, with these bodies. */
export const anAppend = (...bodies: string[]): NewEvent[] => {
  const append = newId()
  return bodies.map((data, index) => ({
    id: newId(),
    type: 'Noted',
    data,
    metadata: JSON.stringify({ at: 1, schema: 1, append: { id: append, index, size: bodies.length } }),
  }))
}

/** One append of `count` small events, numbered from `from`. */
export const numbered = (count: number, from = 0): NewEvent[] =>
  anAppend(...Array.from({ length: count }, (_, i) => `{"n":${from + i}}`))

/** The name of a new stream. Streams with the same prefix belong together. */
export const aStream = (prefix = 'thing'): string => `${prefix}-${newId()}`

export const bodies = (events: readonly NewEvent[]): string[] => events.map((event) => event.data)

/** An event without the fields that exist only in memory, to compare it regardless of where it was read. */
export const essence = ({ stream, revision, position, id, type, data, metadata }: RecordedEvent) =>
  JSON.stringify([stream, `${revision}`, `${position}`, id, type, data, metadata])

export const all = async <T>(source: AsyncIterable<T>): Promise<T[]> => Array.fromAsync(source)

/** The events of the log in streams with a prefix; others may be between them. */
export const readPrefix = async (log: EventLog, prefix: string, after = 0n) =>
  (await all(log.readAll({ after }))).filter((event) => event.stream.startsWith(prefix))

/** Follows the log until so many events of streams with the prefix have arrived. */
export const followPrefix = async (log: EventLog, prefix: string, options: { after: bigint; count: number }) => {
  const stop = new AbortController()
  const seen: RecordedEvent[] = []
  for await (const { events } of log.follow({ after: options.after, signal: stop.signal })) {
    for (const event of events) if (event.stream.startsWith(prefix)) seen.push(event)
    if (seen.length >= options.count) break
  }
  stop.abort()
  return seen
}

/** The error with which a promise rejects. */
export const errorOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => {
      throw new Error('it should have failed')
    },
    (error: unknown) => error,
  )
