import { type Context, type EventToAppend, toNewEvents } from '../engine/decide.ts'
import type { Codec } from '../engine/codec.ts'
import { type Appended, type EventLog, expectedOf } from '../log/log.ts'
import { traces } from '../trace/decide.ts'
import type { TraceEvent } from '../trace/events.ts'
import type { RestatedEvent } from './restated-messages.ts'

/** The most bytes of events in one append, unless a single event has more. The log may accept fewer. */
const SEGMENT_BYTES = 8 * 1024 * 1024

type RestatementOptions = {
  readonly log: Pick<EventLog, 'append' | 'maxAppendBytes'>
  readonly codec: Codec
  readonly stream: string
  /** The present revision of the stream. From now on no other writer may append to it. */
  readonly revision: bigint
  readonly at: number
  readonly context: Context
}

/**
 * Appends a restated trace in segments, each an append of its own. The segments have no effect until `finish` appends the last one, so the
 * restatement may stop after any of them. @throws WrongRevision if another writer has appended meanwhile, LogUnavailable
 */
export const newRestatement = ({ log, codec, stream, revision: begin, at, context }: RestatementOptions) => {
  const most = Math.min(SEGMENT_BYTES, log.maxAppendBytes)
  let revision = begin
  let segment: EventToAppend<TraceEvent>[] = []
  let [bytes, length] = [0, 0]

  const flush = async () => {
    const events = toNewEvents(traces, segment)
    const appended = await log.append(stream, expectedOf(revision), events)
    revision = appended.revision
    segment = []
    bytes = 0
    return { ...appended, id: events.at(-1)!.id }
  }

  const encode = (event: TraceEvent) => ({ event, context, at, ...codec.encode(event) })
  const sizeOf = ({ data }: EventToAppend<TraceEvent>) => Buffer.byteLength(data)
  const isFull = (next: EventToAppend<TraceEvent>) => segment.length > 0 && bytes + sizeOf(next) > most

  return {
    add: async (event: RestatedEvent): Promise<void> => {
      const encoded = encode(event)
      if (isFull(encoded)) await flush()
      segment.push(encoded)
      bytes += sizeOf(encoded)
      length += encoded.data.length
    },
    /** Appends the event that makes the restated messages the present ones. `eventOf` makes it from their size. */
    finish: async (
      eventOf: (restated: { readonly bytes: number }) => TraceEvent,
    ): Promise<Appended & { readonly id: string }> => {
      const event = encode(eventOf({ bytes: length }))
      if (isFull(event)) await flush()
      segment.push(event)
      return flush()
    },
  }
}
