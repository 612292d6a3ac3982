import { v5 } from 'uuid'
import { z } from 'zod'
import type { EventLog, RecordedEvent } from '../log/log.ts'
import { type Codec, formatsOf } from './codec.ts'
import { event } from './stream.ts'

/** The category of the streams with the decisions of operators about events of other streams. */
export const QUARANTINE = 'quarantine'

/** The event `eventId` of a stream is never applied; `by` and `why` are who decided that, and the reason. */
export const QuarantineEvent = z.discriminatedUnion('type', [
  event('EventSkipped', { stream: z.string(), eventId: z.string(), by: z.string(), why: z.string() }),
])
export type QuarantineEvent = z.infer<typeof QuarantineEvent>
export const quarantineFormats = formatsOf(QuarantineEvent)

const ROOT = '3c0a7f52-7d1c-5a0c-9a5e-2f6f2f0a6c11'

/** The id and the name of the stream with the decisions about another stream. */
export const skipIdOf = (stream: string): string => v5(stream, ROOT)
export const skipStreamOf = (stream: string): string => `${QUARANTINE}-${skipIdOf(stream)}`

/** Whether an event is a decision to skip another one. The engine handles it; projections do not get it. */
export const isSkipDecision = ({ stream }: Pick<RecordedEvent, 'stream'>): boolean =>
  stream.startsWith(`${QUARANTINE}-`)

/** The ids of a stream's skipped events, by the decisions up to the position `through` (default: the end of the log). */
export const skippedOf = async (
  log: Pick<EventLog, 'read'>,
  codec: Codec,
  stream: string,
  through?: bigint,
): Promise<Set<string>> => {
  const skipped = new Set<string>()
  for await (const event of log.read(skipStreamOf(stream))) {
    if (through !== undefined && event.position > through) break
    skipped.add((codec.decode(event).data as { eventId: string }).eventId)
  }
  return skipped
}
