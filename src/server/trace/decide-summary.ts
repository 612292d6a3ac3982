import type { Decision } from '../../eventstore/engine/stream.ts'
import type { PresentTrace, TraceState } from './state.ts'
import type { TraceEvent } from './events.ts'

/**
 * Whether a summary of a trace is due: the first one as soon as the trace has messages, another one after each `threshold` new
 * messages.
 */
export const isDue = (messageCount: number, summarised: number | undefined, threshold: number): boolean =>
  summarised === undefined ? messageCount > 0 : messageCount - summarised >= threshold

type NewSummary = {
  readonly title?: string | undefined
  readonly summary: string
  /** The number of messages that were summarised. */
  readonly messageCount: number
  /** How often the trace had been deleted when the summary was made: identifies its incarnation. */
  readonly deletions: number
  /** `since` of the trace when the summary was made, if its past was erased: a summary of an earlier past may quote erased content. */
  readonly since?: number | undefined
}

/** Records the summary of a trace that was moved here, if it still has the messages that it had then. */
export const carrySummary =
  ({ summary, counts: { messageCount } }: PresentTrace): Decision<TraceState, TraceEvent> =>
  ({ trace }) => {
    if (trace.is === 'absent' || trace.summary || !summary || trace.counts.messageCount !== messageCount) return []
    return [{ type: 'TraceSummarised', data: summary }]
  }

/** Records a summary, unless it is no longer due, or was made before the trace was deleted or its past erased. */
export const summarise =
  (
    { title, summary, messageCount, deletions, since }: NewSummary,
    threshold: number,
  ): Decision<TraceState, TraceEvent> =>
  ({ trace }) => {
    if (trace.is === 'absent' || trace.earlier.count !== deletions || trace.since !== since) return []
    if (!isDue(messageCount, trace.summary?.messageCount, threshold)) return []
    return [{ type: 'TraceSummarised', data: { ...(title === undefined ? {} : { title }), summary, messageCount } }]
  }
