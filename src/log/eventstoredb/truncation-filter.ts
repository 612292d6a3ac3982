import type { StoredEvent } from './read-response.ts'
import type { ServerReads } from './server-reads.ts'
import { METADATA, metadataStream, parseMetadata, truncationPoint } from './stream-metadata.ts'

/** Leaves out truncated events. `events` are consecutive events of the log; `isToEnd` says whether they reach its end. */
export type TruncationFilter = (events: readonly StoredEvent[], isToEnd: boolean) => Promise<readonly StoredEvent[]>

/**
 * Reads of the whole log return truncated events until the server scavenges them. A truncation is recorded after the events that it
 * truncates: a page up to the log's end contains all truncations of its events; for other pages the metadata of the streams is
 * read.
 */
export const newTruncationFilter =
  ({ lastEvent }: Pick<ServerReads, 'lastEvent'>, prefix: string): TruncationFilter =>
  async (events, isToEnd) => {
    const points = new Map<string, bigint>()
    for (const event of events)
      if (event.type === METADATA && event.stream.startsWith('$$'))
        points.set(event.stream.slice(2), truncationPoint(parseMetadata(event.data)))
    const readPoint = async (stream: string) => {
      const metadata = await lastEvent(metadataStream(stream))
      if (metadata) points.set(stream, truncationPoint(parseMetadata(metadata.data)))
    }
    const streams = new Set(events.map(({ stream }) => stream).filter((stream) => stream.startsWith(prefix)))
    if (!isToEnd) await Promise.all([...streams].map(readPoint))
    return events.filter(({ stream, revision }) => revision >= (points.get(stream) ?? 0n))
  }
