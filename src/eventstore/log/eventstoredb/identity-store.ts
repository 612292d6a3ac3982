import { randomUUID } from 'node:crypto'
import type { LogIdentity, Position } from '../log.ts'
import type { OwnStreams } from './own-streams.ts'
import type { ServerReads } from './server-reads.ts'
import { type StreamMetadata, changeMetadata, metadataStream, parseMetadata } from './stream-metadata.ts'
import type { Writer } from './writer.ts'

/** The log's identity as stored in EventStoreDB. Every call may throw `LogUnavailable`. */
export type IdentityStore = {
  /** The identity; the first call creates it. */
  identity(): Promise<LogIdentity>
  /** The identity, or undefined if none has been created. */
  storedIdentity(): Promise<LogIdentity | undefined>
  /** Begins another epoch if the current one is still `seen`. Returns the identity after that. */
  renewEpoch(seen: string): Promise<LogIdentity>
  /**
   * Whether the event at a position has this id, and is of this log. Undefined if the event was erased and scavenged, which proves nothing. Also false
   * beyond the log's end, which a newly elected leader may not have reached yet.
   */
  holds(position: Position, id: string): Promise<boolean | undefined>
}

/** A stream without events: its metadata holds the identity. */
const STREAM = 'identity'

/** The full name of the stream with that metadata. A new record in it may be another epoch. */
export const identityStream = (prefix: string): string => metadataStream(prefix + STREAM)
const KEY = 'tracebookLog'

const identityOf = ({ [KEY]: value }: StreamMetadata): LogIdentity | undefined => {
  const { id, epoch } = (value ?? {}) as Partial<LogIdentity>
  return typeof id === 'string' && typeof epoch === 'string' ? { id, epoch } : undefined
}

/** Stores the identity as metadata of a stream: scavenging keeps the newest metadata, and changes check the revision that was read. */
export const newIdentityStore = (
  serverReads: Pick<ServerReads, 'lastEvent' | 'recordAt'>,
  writer: Pick<Writer, 'append'>,
  { prefix, ownStreams }: { readonly prefix: string; readonly ownStreams: Pick<OwnStreams, 'nameOf'> },
): IdentityStore => {
  const change = async (next: (known: LogIdentity | undefined) => LogIdentity | undefined) => {
    const metadata = await changeMetadata(serverReads, writer, prefix + STREAM, (metadata) => {
      const identity = next(identityOf(metadata))
      return identity && { ...metadata, [KEY]: identity }
    })
    return identityOf(metadata)!
  }
  const newIdentity = () => ({ id: randomUUID(), epoch: randomUUID() })

  const identity = () => change((known) => (known ? undefined : newIdentity()))

  const storedIdentity = async () =>
    identityOf(parseMetadata((await serverReads.lastEvent(identityStream(prefix)))?.data ?? ''))

  const renewEpoch = (seen: string) =>
    change((known) => {
      if (!known) return newIdentity()
      return known.epoch === seen ? { ...known, epoch: randomUUID() } : undefined
    })

  const holds = async (position: Position, id: string) => {
    const found = await serverReads.recordAt(position)
    if (found === undefined || found === 'not a record') return false
    if (found.position !== position) return undefined
    return found.id === id && ownStreams.nameOf(found.stream) !== undefined
  }

  return { identity, storedIdentity, renewEpoch, holds }
}
