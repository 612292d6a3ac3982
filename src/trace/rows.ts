import type { TraceFields } from './decide.ts'
import type { Visibility } from './events.ts'

/** A row of `traces` with its count; text that clients wrote stands as JSON string literals. */
export type TraceRow = {
  id: string
  namespace_id: string
  external_id: string
  created_by: string
  created_at: bigint
  updated_at: bigint
  visibility: Visibility
  agent_id: string
  title: string | null
  project_path: string | null
  project_name: string | null
  model: string | null
  model_name: string | null
  git_remote_url: string | null
  git_branch: string | null
  git_ref: string | null
  ai_title: string | null
  ai_summary: string | null
  summary_message_count: bigint | null
  message_count: bigint | null
}

/** A row of a list of traces, with about how many bytes it adds to the answer, or fewer. */
export type ListedRow = TraceRow & { weight: number }

/** Which column holds which field. */
export const columnsOfFields = {
  agentId: 'agent_id',
  title: 'title',
  projectPath: 'project_path',
  projectName: 'project_name',
  model: 'model',
  modelName: 'model_name',
  gitRemoteUrl: 'git_remote_url',
  gitBranch: 'git_branch',
  gitRef: 'git_ref',
} as const

/** The fields of a row as decisions know them. */
export const fieldsOf = (row: TraceRow): TraceFields => {
  const fields: Record<string, unknown> = { visibility: row.visibility }
  for (const [field, column] of Object.entries(columnsOfFields)) {
    const text = row[column]
    if (text !== null) fields[field] = JSON.parse(text)
  }
  return fields as TraceFields
}
