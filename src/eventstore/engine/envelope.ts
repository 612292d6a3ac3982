import type { RecordedEvent } from '../log/log.ts'
import { type Actor, metadataOf } from '../log/metadata.ts'
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
