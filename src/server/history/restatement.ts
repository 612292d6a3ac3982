import { type Context, type EventToAppend, toNewEvents } from '../../eventstore/engine/decide.ts'
import type { Codec } from '../../eventstore/engine/codec.ts'
import { type Appended, type EventLog, expectedOf } from '../../eventstore/log/log.ts'
import { traces } from '../trace/decide.ts'
import type { TraceEvent } from '../trace/events.ts'
import type { RestatedEvent } from './restated-messages.ts'

/** The most bytes of events in one append, unless a single event has more. The log may accept fewer. */
const SEGMENT_BYTES = 8 * 1024 * 1024

type Run = [ordinal: number, revision: number, length: number]

/** Adds the restated messages of a segment to the runs; `first` is the revision of the segment's first event. */
const withRuns = (
  runs: readonly Run[],
  segment: readonly EventToAppend<TraceEvent>[],
  first: number,
): readonly Run[] => {
  const all = runs.map((run): Run => [...run])
  for (const [i, { event }] of segment.entries()) {
    if (event.type !== 'MessageRestated') continue
    const { ordinal } = event.data
    const revision = first + i
    const run = all.at(-1)
    const [runOrdinal, runRevision, length] = run ?? [NaN, NaN, NaN]
    if (run && runOrdinal + length === ordinal && runRevision + length === revision) run[2] += 1
    else all.push([ordinal, revision, 1])
  }
  return all
}

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
  let runs: readonly Run[] = []
  let revision = begin
  let segment: EventToAppend<TraceEvent>[] = []
  let [bytes, length] = [0, 0]

  const flush = async () => {
    const events = toNewEvents(traces, segment)
    const appended = await log.append(stream, expectedOf(revision), events)
    // An event that the log has to store in chunks is alone in its segment: its revision is that of the last chunk.
    runs = withRuns(runs, segment, Number(appended.revision) - segment.length + 1)
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
    /** Appends the event that makes the restated messages the present ones. `eventOf` makes it from their runs and their size. */
    finish: async (
      eventOf: (restated: { readonly runs: readonly Run[]; readonly bytes: number }) => TraceEvent,
    ): Promise<Appended & { readonly id: string }> => {
      const last = (runs: readonly Run[]) => encode(eventOf({ runs, bytes: length }))
      let event = last(withRuns(runs, segment, Number(revision) + 1))
      if (isFull(event)) {
        await flush()
        event = last(runs)
      }
      segment.push(event)
      return flush()
    },
  }
}
