import { jsonEvent } from '@eventstore/db-client'
import { WrongRevision } from '../log.ts'
import type { Questions } from './server-reads.ts'
import { METADATA, type Metadata, metadataStream, parseMetadata } from './truncation-point.ts'
import type { Writer } from './writer.ts'

/**
 * Changes the metadata of a stream, however many others do so at once, and gives what it is then. `change` gets what
 * there is and gives the whole that shall be there, or nothing when it may stay. The revision is read with the metadata
 * itself: the client's own `metastreamRevision` is a position. `stream` is the full name.
 */
export const changeMetadata = async (
  questions: Pick<Questions, 'last'>,
  writer: Pick<Writer, 'append'>,
  stream: string,
  change: (metadata: Metadata) => Metadata | undefined,
): Promise<Metadata> => {
  const name = metadataStream(stream)
  for (;;) {
    const current = await questions.last(name)
    const before = parseMetadata(current?.data ?? '')
    const after = change(before)
    if (!after) return before
    try {
      await writer.append(name, current?.revision ?? 'none', [jsonEvent({ type: METADATA, data: after })])
      return after
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error
    }
  }
}
