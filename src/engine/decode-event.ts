import type { RecordedEvent } from '../log/log.ts'
import { type Actor, metadataOf } from '../log/metadata.ts'
import type { Codec } from './codec.ts'
import { type DecodedEvent, SKIPPED } from './projection.ts'
import { streamIdOf } from './stream.ts'

/**
 * What is known of an event without decoding its data. It is a class, because several readers of the log make one for each event: an object
 * with an accessor of its own would take 2.5 kB.
 */
export class Envelope {
  readonly type: string
  /** The part of the stream's name behind its category. */
  readonly streamId: string
  readonly stream: string
  /** Lower than `revision` if the event was stored in chunks. */
  readonly firstRevision: bigint
  readonly revision: bigint
  readonly position: bigint
  /** When it was recorded, in milliseconds. */
  readonly at: number
  readonly actor: Actor | undefined
  /** The request that caused it; undefined if the service itself did. */
  readonly requestId: string | undefined
  /** The append that it was stored with; several requests may share one. */
  readonly appendId: string
  /** Length of the data's JSON text, in characters. */
  readonly bytes: number

  constructor(event: RecordedEvent) {
    const { at, actor, requestId, append } = metadataOf(event)
    this.type = event.type
    this.streamId = streamIdOf(event)
    this.stream = event.stream
    this.firstRevision = event.firstRevision ?? event.revision
    this.revision = event.revision
    this.position = event.position
    this.at = at
    this.actor = actor
    this.requestId = requestId
    this.appendId = append.id
    this.bytes = event.data.length
  }
}

class LazyEvent extends Envelope implements DecodedEvent {
  readonly #codec: Codec
  readonly #event: RecordedEvent
  #data: object | undefined

  constructor(codec: Codec, event: RecordedEvent) {
    super(event)
    this.#codec = codec
    this.#event = event
  }

  get data(): object {
    return (this.#data ??= this.#codec.decode(this.#event).data)
  }
}

/** Decodes an event for projections. @throws UnknownEvent for a type or version that this code does not know */
export const decodeEvent = (codec: Codec, event: RecordedEvent): DecodedEvent => ({
  ...new Envelope(event),
  data: codec.decode(event).data,
})

/**
 * Decodes an event for caches and batches of read models: parses the data when it is first read, because they need the data of few events.
 * @throws UnknownEvent at once for an unknown type or version, at the first read for data that does not match its schema
 */
export const decodeLazily = (codec: Codec, event: RecordedEvent): DecodedEvent => {
  codec.assertKnown(event)
  return new LazyEvent(codec, event)
}

/** The event that projections get for one that an operator has skipped: with its revision, but without its data. */
export const skippedEvent = (event: RecordedEvent): DecodedEvent => ({
  ...new Envelope(event),
  type: SKIPPED,
  data: {},
  actor: undefined,
  bytes: 0,
})
