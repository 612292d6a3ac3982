import type { RecordedEvent } from '../log/log.ts'
import { metadataOf } from '../log/metadata.ts'
import type { Codec } from './codec.ts'
import { type DecodedEvent, SKIPPED } from './projection.ts'
import { streamIdOf } from './stream.ts'

const envelopeOf = (event: RecordedEvent): Omit<DecodedEvent, 'data'> => {
  const { at, actor, requestId, append } = metadataOf(event)
  const { type, stream, revision, position, firstRevision = revision } = event
  const place = { streamId: streamIdOf(event), stream, firstRevision, revision, position }
  return { type, ...place, at, actor, requestId, appendId: append.id, bytes: event.data.length }
}

/** Decodes an event for projections. @throws UnknownEvent for a type or version that this code does not know */
export const decodeEvent = (codec: Codec, event: RecordedEvent): DecodedEvent => ({
  ...envelopeOf(event),
  data: codec.decode(event).data,
})

/**
 * The same, but parses the data when it is first read: caches need the data of few events.
 * @throws UnknownEvent at once for an unknown type or version, at the first read for data that does not match its schema
 */
export const decodeLazily = (codec: Codec, event: RecordedEvent): DecodedEvent => {
  codec.assertKnown(event)
  let data: object | undefined
  const get = () => (data ??= codec.decode(event).data)
  return Object.defineProperty(envelopeOf(event) as DecodedEvent, 'data', { get, enumerable: true })
}

/** The event that projections get for one that an operator has skipped: with its revision, but without its data. */
export const skippedEvent = (event: RecordedEvent): DecodedEvent => ({
  ...envelopeOf(event),
  type: SKIPPED,
  data: {},
  actor: undefined,
  bytes: 0,
})
