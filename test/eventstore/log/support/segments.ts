import { type EventLog, LogUnavailable, type NewEvent } from '../../../../src/eventstore/log/log.ts'
import { wholeAppends } from '../../../../src/eventstore/log/whole-appends.ts'
import { errorOf } from './events.ts'

/** A log whose process dies after so many segments of an append. */
export const dyingAfter = (segments: number, bare: EventLog): EventLog => {
  let left = segments
  const append: EventLog['append'] = async (...request) => {
    if (left-- === 0) throw new LogUnavailable('unknown')
    return bare.append(...request)
  }
  return wholeAppends({ ...bare, append })
}

/** Appends only the first segments of an append, as after a crash. */
export const leaveOrphans = async (bare: EventLog, ...[stream, expected, events]: Parameters<EventLog['append']>) => {
  await errorOf(dyingAfter(2, bare).append(stream, expected, events))
}

/** The segments that an append would be split into, without appending them. */
export const segmentsOf = async (bare: EventLog, events: readonly NewEvent[]): Promise<(readonly NewEvent[])[]> => {
  const segments: (readonly NewEvent[])[] = []
  const append: EventLog['append'] = async (_stream, _expected, segment) => {
    segments.push(segment)
    return { revision: 0n, position: 0n }
  }
  await wholeAppends({ ...bare, append }).append('none', 'none', events)
  return segments
}

/** A JSON body of about so many bytes, different for each number, with characters that need escaping or several bytes. */
export const bodyOf = (bytes: number, n: number): string =>
  JSON.stringify({ n, text: 'a"\\ä𝄞'.repeat(Math.max(0, Math.ceil((bytes - 20) / 12))) })
