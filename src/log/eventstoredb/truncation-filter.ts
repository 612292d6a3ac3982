import type { Stored } from './read-response.ts'
import type { Questions } from './server-reads.ts'
import { METADATA, metadataStream, parseMetadata, truncationPoint } from './truncation-point.ts'

/** Takes out what lies below its stream's truncation point, of events as they stand in the log one after the other. */
export type Mask = (events: readonly Stored[], isToEnd: boolean) => Promise<readonly Stored[]>

/**
 * What is truncated stays in the log until the scavenge. Streams are truncated behind their events: whoever has read
 * to the end has seen each truncation; for events before that the streams are asked.
 */
export const newMask =
  ({ last }: Pick<Questions, 'last'>, prefix: string): Mask =>
  async (events, isToEnd) => {
    const points = new Map<string, bigint>()
    for (const event of events)
      if (event.type === METADATA && event.stream.startsWith('$$'))
        points.set(event.stream.slice(2), truncationPoint(parseMetadata(event.data)))
    const ask = async (stream: string) => {
      const metadata = await last(metadataStream(stream))
      if (metadata) points.set(stream, truncationPoint(parseMetadata(metadata.data)))
    }
    const streams = new Set(events.map(({ stream }) => stream).filter((stream) => stream.startsWith(prefix)))
    if (!isToEnd) await Promise.all([...streams].map(ask))
    return events.filter(({ stream, revision }) => revision >= (points.get(stream) ?? 0n))
  }
