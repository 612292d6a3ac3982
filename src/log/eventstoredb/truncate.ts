import type { Revision } from '../log.ts'
import { changeMetadata } from './change-metadata.ts'
import type { Questions } from './server-reads.ts'
import { truncationPoint, withTruncationPoint } from './truncation-point.ts'
import type { Writer } from './writer.ts'

/**
 * Sets a stream's truncation point and keeps its other metadata. Never beyond the last event, or events that come
 * later would be invisible, and never back. `stream` is the full name.
 */
export const truncateStream = async (
  questions: Pick<Questions, 'last'>,
  writer: Writer,
  stream: string,
  before: Revision,
): Promise<void> => {
  const end = await questions.last(stream)
  if (!end) return
  const wanted = before < end.revision ? before : end.revision
  await changeMetadata(questions, writer, stream, (metadata) =>
    truncationPoint(metadata) >= wanted ? undefined : withTruncationPoint(metadata, wanted),
  )
}
