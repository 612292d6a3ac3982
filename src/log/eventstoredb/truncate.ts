import { jsonEvent } from '@eventstore/db-client'
import { type Revision, WrongRevision } from '../log.ts'
import type { Reader } from './reader.ts'
import { METADATA, metadataStream, truncationPoint, withTruncationPoint } from './truncation-point.ts'
import type { Writer } from './writer.ts'

/**
 * Sets a stream's truncation point and keeps its other metadata. Never beyond the last event, or events that come
 * later would be invisible, and never back. The revision is read with the metadata itself: the client's own
 * `metastreamRevision` is a position. `stream` is the full name.
 */
export const truncateStream = async (
  reader: Pick<Reader, 'last'>,
  writer: Writer,
  stream: string,
  before: Revision,
): Promise<void> => {
  const end = await reader.last(stream)
  if (!end) return
  const wanted = before < end.revision ? before : end.revision
  for (;;) {
    const current = await reader.last(metadataStream(stream))
    const text = current?.data ?? ''
    if (truncationPoint(text) >= wanted) return
    const event = jsonEvent({ type: METADATA, data: withTruncationPoint(text, wanted) })
    try {
      await writer.append(metadataStream(stream), current?.revision ?? 'none', [event])
      return
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error
    }
  }
}
