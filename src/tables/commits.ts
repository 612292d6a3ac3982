import { erasedFrom } from './storage.ts'
import { tableOf } from './table.ts'

const lines = {
  total: 'int4 not null',
  weak: 'int4 not null',
  replaced: 'int4 not null',
  run: 'int4 not null',
  moved: 'int4 not null',
  unknown: 'int4 not null',
} as const

/** The recorded commits. `repository` is a JSON literal; `patch` is the patch id. */
export const commitsTable = tableOf(
  'commits',
  {
    id: 'uuid primary key',
    namespace_id: 'uuid not null',
    repository: 'text collate "C" not null',
    sha: 'text collate "C" not null',
    patch: 'text collate "C"',
    at: 'int8 not null',
    recorded_at: 'int8 not null',
    recorded_by: 'uuid',
    ...lines,
  },
  { storage: erasedFrom },
)

/** The lines of commits by trace, which was created at `created_at`: another one with its id is another trace. */
export const commitTracesTable = tableOf(
  'commit_traces',
  {
    commit_id: 'uuid not null',
    trace_id: 'uuid not null',
    created_at: 'int8 not null',
    replaced: 'int4 not null',
    run: 'int4 not null',
  },
  { constraint: 'primary key (commit_id, trace_id)', storage: erasedFrom },
)
