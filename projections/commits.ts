import { type DecodedEvent, type WriteStatement, projectionOf } from '../src/eventstore/engine/projection.ts'
import { uuids } from '../src/eventstore/postgres/arrays.ts'
import type { CommitEvent, TraceLines } from '../src/server/commit/events.ts'
import { commitTracesTable, commitsTable } from '../src/tables/commits.ts'

type Recorded = DecodedEvent<Extract<CommitEvent, { type: 'CommitRecorded' }>>

/** The last record of each commit of a batch; undefined for one that was removed. */
type Changes = Map<string, Recorded | undefined>

const inserted = commitsTable.unnest<Recorded>({
  id: ({ streamId }) => streamId,
  namespace_id: ({ data }) => data.namespaceId,
  repository: ({ data }) => JSON.stringify(data.repository),
  sha: ({ data }) => data.sha,
  patch: ({ data }) => data.patchId,
  at: ({ data }) => data.at,
  recorded_at: ({ at }) => at,
  recorded_by: ({ actor }) => actor?.userId,
  total: ({ data }) => data.lines.total,
  weak: ({ data }) => data.lines.weak,
  replaced: ({ data }) => data.lines.replaced,
  run: ({ data }) => data.lines.run,
  moved: ({ data }) => data.lines.moved,
  unknown: ({ data }) => data.lines.unknown,
})

type TraceRow = TraceLines & { readonly commitId: string }

const ofTraces = commitTracesTable.unnest<TraceRow>({
  commit_id: ({ commitId }) => commitId,
  trace_id: ({ traceId }) => traceId,
  created_at: ({ createdAt }) => createdAt,
  replaced: ({ replaced }) => replaced,
  run: ({ run }) => run,
})

const remove = (ids: readonly string[], write: WriteStatement): void => {
  write('commits-remove', 'delete from commits where id = any($1::uuid[])', [uuids(ids)])
  write('commits-remove-traces', 'delete from commit_traces where commit_id = any($1::uuid[])', [uuids(ids)])
}

/** The recorded commits, as they were recorded. Which of their traces are there is looked up when they are listed. */
export const commits = projectionOf<CommitEvent>()<Changes>({
  name: 'commits',
  tables: `${commitsTable.create} ${commitTracesTable.create}`,
  rows: { commits: { commit: 'id' }, commit_traces: { commit: 'commit_id' } },
  indexes: `
    create index commits_listed on commits (namespace_id, at, id);
    create index commits_patches on commits (namespace_id, patch) where patch is not null;
    create index commit_traces_listed on commit_traces (trace_id);`,
  start: () => new Map(),
  on: {
    CommitRecorded: (changes, event) => void changes.set(event.streamId, event),
    CommitRemoved: (changes, event) => void changes.set(event.streamId, undefined),
  },
  write: (changes, write) => {
    if (changes.size === 0) return
    remove([...changes.keys()], write)
    const rows = [...changes.values()].filter((one) => one !== undefined)
    if (rows.length === 0) return
    write('commits-insert', inserted.insert, inserted.values(rows))
    const traces = rows.flatMap(({ streamId, data }) => data.traces.map((one) => ({ ...one, commitId: streamId })))
    if (traces.length > 0) write('commits-insert-traces', ofTraces.insert, ofTraces.values(traces))
  },
})
