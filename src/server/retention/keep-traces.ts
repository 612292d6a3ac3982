import type { Transactor } from '../../eventstore/engine/transact.ts'
import { InQuarantine } from '../../eventstore/engine/rejected.ts'
import type { Write } from '../../eventstore/engine/write.ts'
import type { KeepTraces } from '../namespace/services.ts'
import { touchUnchanged } from '../trace/decide.ts'
import type { TraceNeed, TraceState } from '../trace/state.ts'
import type { TraceEvent } from '../trace/events.ts'
import { dueBefore } from './expired-traces.ts'
import type { ExpiringTraces } from './expiring-traces.ts'

type KeepTracesOptions = {
  readonly expiring: Pick<ExpiringTraces, 'of' | 'remove'>
  readonly traces: Pick<Transactor<TraceState, TraceEvent, TraceNeed>, 'transact'>
  readonly write: Write
  /** The clock, in milliseconds. */
  readonly now: () => number
}

/**
 * Stops deletions that were decided by an earlier retention of a namespace and may still be under way: an update of their traces, which moves
 * nothing but `updatedAt`, takes the revision that they have to be stored at. Called after the change of the retention.
 */
export const newKeepTraces = ({ expiring, traces, write, now }: KeepTracesOptions): KeepTraces => {
  return async (namespaceId, days) => {
    const due = days === undefined ? undefined : dueBefore(now(), days)
    for (const id of await expiring.of(namespaceId)) {
      try {
        await write(traces, id, { decide: touchUnchanged(due) }, {})
        await expiring.remove(namespaceId, id)
      } catch (error) {
        if (!(error instanceof InQuarantine)) throw error // its stream takes no deletion either
      }
    }
  }
}
