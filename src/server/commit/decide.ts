import jsonpatch from 'fast-json-patch'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import type { Decision, DecisionWithResult, EventContext, StreamKind } from '../../eventstore/engine/stream.ts'
import { CommitEvent, type Recorded } from './events.ts'

export type CommitState =
  | { readonly is: 'absent' }
  | { readonly is: 'present'; readonly recorded: Recorded; readonly recordedBy: string | undefined }

const evolve = (_state: CommitState, event: CommitEvent, { actor }: EventContext): CommitState => {
  switch (event.type) {
    case 'CommitRecorded':
      return { is: 'present', recorded: event.data, recordedBy: actor?.userId }
    case 'CommitRemoved':
      return { is: 'absent' }
  }
}

const COMMIT_BYTES = 800
const TRACE_BYTES = 200

/** Streams `commit-<id>`, with an id derived from namespace, repository and sha. */
export const commits: StreamKind<CommitState, CommitEvent> = {
  category: 'commit',
  events: CommitEvent,
  initial: () => ({ is: 'absent' }),
  evolve,
  sizeOf: (state) => COMMIT_BYTES + (state.is === 'present' ? TRACE_BYTES * state.recorded.traces.length : 0),
}

const isEqual = (a: Recorded, b: Recorded): boolean => jsonpatch.compare(a, b).length === 0

type Result = 'created' | 'updated' | 'unchanged'

/** Records a commit, in place of what was recorded of it. An equal record is none. */
export const recordCommit =
  (recorded: Recorded): DecisionWithResult<CommitState, CommitEvent, Result> =>
  (state) => {
    if (state.is === 'present' && isEqual(state.recorded, recorded)) return { events: [], result: 'unchanged' }
    const result = state.is === 'present' ? 'updated' : 'created'
    return { events: [{ type: 'CommitRecorded', data: recorded }], result }
  }

export const NO_COMMIT = 'No such commit of the repository is recorded in this namespace'
const NOT_RECORDER = 'Only who has recorded the commit, or an admin of the namespace, may remove it'

type Remover = { readonly userId: string; readonly isAdmin: boolean }

/** Removes the record of a commit. @throws Rejected not_found, forbidden */
export const removeCommit =
  ({ userId, isAdmin }: Remover): Decision<CommitState, CommitEvent> =>
  (state) => {
    if (state.is === 'absent') throw new Rejected('not_found', NO_COMMIT)
    if (!isAdmin && state.recordedBy !== userId) throw new Rejected('forbidden', NOT_RECORDER)
    return [{ type: 'CommitRemoved', data: { namespaceId: state.recorded.namespaceId } }]
  }
