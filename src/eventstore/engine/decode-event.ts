import type { RecordedEvent } from '../log/log.ts'
import type { Codec } from './codec.ts'
import { Envelope } from './envelope.ts'
import { type DecodedEvent, SKIPPED } from './projection.ts'

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
