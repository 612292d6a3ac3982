import type { Decision } from '../engine/stream.ts'
import type { TraceState } from './decide.ts'
import type { TraceEvent } from './events.ts'

/**
 * Whether a trace wants a summary: the first as soon as it has messages, another when `threshold` more have come since
 * the last.
 */
export const isDue = (messageCount: number, summarised: number | undefined, threshold: number): boolean =>
  summarised === undefined ? messageCount > 0 : messageCount - summarised >= threshold

export type SummaryGiven = {
  readonly title?: string | undefined
  readonly summary: string
  /** How many messages the trace had when they were read. */
  readonly messageCount: number
  /** How often the trace had been deleted then: tells one incarnation of the trace from the next. */
  readonly deletions: number
}

/** Takes over a summary, unless it is no longer due or was made of an earlier incarnation of the trace. */
export const summarise =
  ({ title, summary, messageCount, deletions }: SummaryGiven, threshold: number): Decision<TraceState, TraceEvent> =>
  ({ trace }) => {
    if (trace.is === 'absent' || trace.earlier.count !== deletions) return []
    if (!isDue(messageCount, trace.summary?.messageCount, threshold)) return []
    return [{ type: 'TraceSummarised', data: { ...(title === undefined ? {} : { title }), summary, messageCount } }]
  }
