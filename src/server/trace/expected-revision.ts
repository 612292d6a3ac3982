import { Rejected } from '../../eventstore/engine/rejected.ts'
import type { CheckRevision } from '../../eventstore/engine/stream.ts'
import { revisionNumber } from '../../eventstore/log/log.ts'
import type { TraceState } from './state.ts'
import type { TraceEvent } from './events.ts'

/** An update without changes only moves `updatedAt`: a request that is repeated after its answer was lost must be no conflict. */
const changesNothing = (event: TraceEvent): boolean => event.type === 'TraceUpdated' && event.data.patch.length === 0

/**
 * Refuses events that would change a trace at another revision than the one that a client expects. A trace that does not exist counts as revision
 * 0, so that a client can create it unless another one has been faster. Undefined if nothing is expected.
 * @throws Rejected changed, with `revision`, that of the trace
 */
export const ifRevision = (expected: bigint | undefined): CheckRevision<TraceState, TraceEvent> | undefined =>
  expected === undefined
    ? undefined
    : ({ trace }, shown, events) => {
        const revision = trace.is === 'absent' ? 0n : revisionNumber(shown)
        if (revision === expected || events.every(changesNothing)) return
        const message = `The trace is at revision ${revision}, not ${expected}: read what has changed since, and repeat the request at that revision`
        throw new Rejected('changed', message, { details: { revision: Number(revision) } })
      }
