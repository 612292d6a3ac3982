import type { EventLog } from '../log/log.ts'
import type { Codec } from './codec.ts'
import { skipStreamOf } from './quarantine.ts'

/** The ids of a stream's events that operators have passed over for good, as decided up to a position. */
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
