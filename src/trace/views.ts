import { z } from 'zod'
import { jsonObject } from '../http/reply.ts'
import type { UpsertedMessage } from './decide-messages.ts'
import type { PresentTrace } from './decide.ts'
import { MessageTypeCounts, Visibility } from './events.ts'
import { textOf } from '../json/text.ts'
import { MessageRole, Part, PlainNumber } from './part.ts'
import { type TraceRow } from './rows.ts'
import { partText } from './part-text.ts'

/** Answers are joined from stored JSON text; these schemas describe them in the OpenAPI document and in tests. */
export const TraceSummary = z
  .object({
    id: z.string(),
    externalId: z.string(),
    title: z.string().optional(),
    agentId: z.string(),
    model: z.string().optional(),
    modelName: z.string().optional(),
    ai_title: z.string().optional(),
    visibility: Visibility,
    createdAt: z.int(),
    updatedAt: z.int().optional(),
    messageCount: z.int().optional(),
  })
  .meta({ id: 'TraceSummary' })

export const TraceDetail = TraceSummary.extend({
  namespace: z.object({ id: z.string(), slug: z.string() }),
  createdBy: z.string(),
  projectPath: z.string().optional(),
  projectName: z.string().optional(),
  gitRemoteUrl: z.string().optional(),
  gitBranch: z.string().optional(),
  gitRef: z.string().optional(),
  ai_summary: z.string().optional(),
  summaryMessageCount: z.int().optional(),
  messageTypeCounts: MessageTypeCounts.optional(),
  toolTypeCounts: z.record(z.string(), z.int()).optional(),
}).meta({ id: 'TraceDetail' })

export const FeedTrace = TraceSummary.extend({
  namespace: z.object({ id: z.string(), slug: z.string(), displayName: z.string() }),
  author: z.object({ id: z.string(), displayName: z.string().optional() }).optional(),
}).meta({ id: 'FeedTrace' })

export const Message = z
  .object({
    id: z.string(),
    externalId: z.string(),
    role: MessageRole,
    textContent: z.string().optional(),
    model: z.string().optional(),
    order: PlainNumber.optional(),
    timestamp: PlainNumber.optional(),
    createdAt: z.int(),
    updatedAt: z.int(),
    parts: z.array(z.intersection(z.object({ order: z.int() }), Part)).optional(),
  })
  .meta({ id: 'Message' })

const text = (value: string | undefined) => (value === undefined ? undefined : JSON.stringify(value))

/** The members of a TraceSummary as JSON text. */
export const summaryMembers = (row: TraceRow) => ({
  id: `"${row.id}"`,
  externalId: JSON.stringify(row.external_id),
  title: row.title,
  agentId: row.agent_id,
  model: row.model,
  modelName: row.model_name,
  ai_title: row.ai_title,
  visibility: `"${row.visibility}"`,
  createdAt: String(row.created_at),
  updatedAt: String(row.updated_at),
  messageCount: String(row.message_count ?? 0n),
})

export const summaryText = (row: TraceRow): string => jsonObject(summaryMembers(row))

export type DetailRow = TraceRow & { message_types: string | null; tool_types: string | null; slug: string | null }

/** A TraceDetail from its row. */
export const detailText = (row: DetailRow): string =>
  jsonObject({
    ...summaryMembers(row),
    namespace: JSON.stringify({ id: row.namespace_id, slug: row.slug ?? '' }),
    createdBy: `"${row.created_by}"`,
    projectPath: row.project_path,
    projectName: row.project_name,
    gitRemoteUrl: row.git_remote_url,
    gitBranch: row.git_branch,
    gitRef: row.git_ref,
    ai_summary: row.ai_summary,
    summaryMessageCount: row.summary_message_count?.toString(),
    messageTypeCounts: row.message_types,
    toolTypeCounts: row.tool_types,
  })

/** A TraceDetail from the state right after a decision. Counts are shown once there were messages. */
export const stateText = (id: string, slug: string, trace: PresentTrace): string => {
  const { fields, counts, summary } = trace
  const { messageTypeCounts, toolTypeCounts } = counts
  const hasCounts = counts.messageCount > 0
  return JSON.stringify({
    id,
    externalId: trace.externalId,
    title: fields.title,
    agentId: fields.agentId,
    model: fields.model,
    modelName: fields.modelName,
    ai_title: summary?.title,
    visibility: fields.visibility,
    createdAt: trace.createdAt,
    updatedAt: trace.updatedAt,
    messageCount: counts.messageCount,
    namespace: { id: trace.namespaceId, slug },
    createdBy: trace.createdBy,
    projectPath: fields.projectPath,
    projectName: fields.projectName,
    gitRemoteUrl: fields.gitRemoteUrl,
    gitBranch: fields.gitBranch,
    gitRef: fields.gitRef,
    ai_summary: summary?.summary,
    summaryMessageCount: summary?.messageCount,
    ...(hasCounts ? { messageTypeCounts, toolTypeCounts } : {}),
  })
}

/** A message with its parts, right after a decision. */
export const upsertedText = (id: string, { externalId, known, document }: UpsertedMessage): string =>
  jsonObject({
    id: `"${id}"`,
    externalId: JSON.stringify(externalId),
    role: `"${document.role}"`,
    textContent: text(document.textContent),
    model: text(document.model),
    order: document.order?.toString(),
    timestamp: document.timestamp?.toString(),
    createdAt: String(known.createdAt),
    updatedAt: String(known.updatedAt),
    parts: `[${document.parts.map((part, i) => partText(textOf(part), i)).join(',')}]`,
  })

export type MessageRow = {
  id: string
  external_id: string
  role: string
  text_content: string | null
  model: string | null
  sequence: number | null
  timestamp: number | null
  created_at: bigint
  updated_at: bigint
  /** The parts' bodies, joined by commas; absent when parts are not asked for. */
  parts?: string | null
}

/** A message from its row. */
export const messageText = (row: MessageRow): string =>
  jsonObject({
    id: `"${row.id}"`,
    externalId: JSON.stringify(row.external_id),
    role: `"${row.role}"`,
    textContent: row.text_content,
    model: row.model,
    order: row.sequence?.toString(),
    timestamp: row.timestamp?.toString(),
    createdAt: String(row.created_at),
    updatedAt: String(row.updated_at),
    parts: row.parts === undefined ? undefined : `[${row.parts ?? ''}]`,
  })
