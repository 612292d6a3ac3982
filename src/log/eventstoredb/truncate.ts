import type { Revision } from '../log.ts'
import type { ServerReads } from './server-reads.ts'
import { changeMetadata, truncationPoint, withTruncationPoint } from './stream-metadata.ts'
import type { Writer } from './writer.ts'

/**
 * Sets a stream's truncation point, but never after the last event, because later events would be invisible, and never back. Other
 * metadata of the stream stays. `stream` is the full name.
 */
export const truncateStream = async (
  serverReads: Pick<ServerReads, 'lastEvent'>,
  writer: Writer,
  stream: string,
  before: Revision,
): Promise<void> => {
  const end = await serverReads.lastEvent(stream)
  if (!end) return
  const wanted = before < end.revision ? before : end.revision
  await changeMetadata(serverReads, writer, stream, (metadata) =>
    truncationPoint(metadata) >= wanted ? undefined : withTruncationPoint(metadata, wanted),
  )
}
