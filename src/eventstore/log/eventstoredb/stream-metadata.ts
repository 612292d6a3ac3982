import { randomUUID } from 'node:crypto'
import { type Revision, WrongRevision } from '../log.ts'
import { proposedSystemEvent } from './append-request.ts'
import type { StoredEvent } from './read-response.ts'
import type { Writer } from './writer.ts'

/** Reads the last event of a stream by its full name. */
type ReadsLastEvent = { readonly lastEvent: (stream: string) => Promise<StoredEvent | undefined> }

/** The type of events with a stream's metadata. */
export const METADATA = '$metadata'

const TRUNCATE_BEFORE = '$tb'

export type StreamMetadata = Readonly<Record<string, unknown>>

/** The name of the stream with the metadata of another one. Also works for a prefix of names. */
export const metadataStream = (stream: string): string => `$$${stream}`

/** Parses the data of a metadata event; `{}` if it is empty or not an object. */
export const parseMetadata = (data: string): StreamMetadata => {
  const value: unknown = data === '' ? {} : JSON.parse(data)
  return typeof value === 'object' && value !== null ? (value as StreamMetadata) : {}
}

/** The revision below which the stream with this metadata is truncated. */
export const truncationPoint = ({ [TRUNCATE_BEFORE]: before }: StreamMetadata): bigint =>
  typeof before === 'number' ? BigInt(before) : 0n

/** The same metadata with another truncation point. Beyond 2^53 it is rounded, as in the metadata of a deletion. */
const withTruncationPoint = (metadata: StreamMetadata, before: bigint): StreamMetadata => ({
  ...metadata,
  [TRUNCATE_BEFORE]: Number(before),
})

/**
 * Changes the metadata of a stream, and returns it. Tries again if another writer was faster. `change` gets the current metadata and
 * returns all of the new one, or undefined to leave it as it is. `stream` is the full name. The revision is read with the metadata,
 * because the client's own `metastreamRevision` is a position.
 */
export const changeMetadata = async (
  serverReads: ReadsLastEvent,
  writer: Pick<Writer, 'append'>,
  stream: string,
  change: (metadata: StreamMetadata) => StreamMetadata | undefined,
): Promise<StreamMetadata> => {
  const name = metadataStream(stream)
  for (;;) {
    const current = await serverReads.lastEvent(name)
    const before = parseMetadata(current?.data ?? '')
    const after = change(before)
    if (!after) return before
    try {
      await writer.append(name, current?.revision ?? 'none', [proposedSystemEvent(randomUUID(), METADATA, after)])
      return after
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error
    }
  }
}

/**
 * Sets a stream's truncation point, but never after the last event, because later events would be invisible, and never back. Other
 * metadata of the stream stays. `stream` is the full name.
 */
export const truncateStream = async (
  serverReads: ReadsLastEvent,
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
