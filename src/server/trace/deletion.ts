import { earlierFields } from './earlier-deletions.ts'
import type { Place, TraceEvent } from './events.ts'
import type { PresentTrace } from './state.ts'

/** The event that deletes a trace. `why`: it was moved, or it is taken back from where it was moved to. */
export const deletion = (
  trace: PresentTrace,
  why: { readonly movedTo?: Place; readonly withdrawn?: true } = {},
): TraceEvent => {
  const { externalId, namespaceId, createdBy, createdAt, counts, earlier } = trace
  const { messageCount } = counts
  const data = { externalId, namespaceId, createdBy, createdAt, messageCount, ...why, ...earlierFields(earlier) }
  return { type: 'TraceDeleted', data }
}
