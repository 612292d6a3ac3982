import { columnOf } from '../../tables/main.ts'
import { type TextName, type TraceTexts, detailNames, listedNames } from '../../contract/trace-texts.ts'
import type { ListedTrace, TraceDetail, TraceSummary } from '../../contract/trace.ts'
import { type JsonText, type MemberTexts, jsonText } from '../http/json-text.ts'
import type { PresentTrace, TraceFields } from './state.ts'
import { shownToolCounts } from './messages/tool-counts.ts'
import type { ShownRow } from './model-names.ts'
import type { TraceRow } from './rows.ts'

type TextsOf<Name extends TextName> = Pick<MemberTexts<TraceTexts>, Name>

/** These texts of a row, which are JSON text already. */
const textsOf = <Name extends TextName>(row: TraceRow, names: readonly Name[]): TextsOf<Name> => {
  const texts: { [Name in TextName]?: string | null } = {}
  for (const name of names) texts[name] = row[columnOf[name]]
  return texts as TextsOf<Name>
}

/** The members of a trace in any list as JSON text. */
export const listedMembers = (row: ShownRow & { child_count?: bigint }): MemberTexts<ListedTrace> => ({
  id: `"${row.id}"`,
  externalId: JSON.stringify(row.external_id),
  ...textsOf(row, listedNames),
  ai_title: row.ai_title,
  visibility: `"${row.visibility}"`,
  createdAt: String(row.created_at),
  updatedAt: String(row.updated_at),
  startedAt: row.started_at?.toString(),
  endedAt: row.ended_at?.toString(),
  messageCount: String(row.message_count ?? 0n),
  childCount: row.child_count?.toString(),
  shape: row.shape,
  usage: row.usage,
  cost: row.cost,
})

const summaryMembers = (row: ShownRow): MemberTexts<TraceSummary> => ({
  ...listedMembers(row),
  createdBy: `"${row.created_by}"`,
})

export const summaryText = (row: ShownRow): JsonText<TraceSummary> => jsonText(summaryMembers(row))

export type DetailRow = TraceRow & { message_types: string | null; tool_types: string | null; slug: string | null }

/** The members of a TraceDetail as JSON text. */
export const detailMembers = (row: ShownRow<DetailRow>): MemberTexts<TraceDetail> => ({
  ...summaryMembers(row),
  namespace: JSON.stringify({ id: row.namespace_id, slug: row.slug ?? '' } satisfies TraceDetail['namespace']),
  ...textsOf(row, detailNames),
  ai_summary: row.ai_summary,
  summaryMessageCount: row.summary_message_count?.toString(),
  messageTypeCounts: row.message_types,
  toolTypeCounts: row.tool_types && shownToolCounts(row.tool_types),
})

/** A TraceDetail from its row. */
export const detailText = (row: ShownRow<DetailRow>): JsonText<TraceDetail> => jsonText(detailMembers(row))

/** The smallest and the largest timestamp of the messages of a trace, in milliseconds; absent if no message has one. */
export type TraceTimes = { readonly startedAt?: number | undefined; readonly endedAt?: number | undefined }

/** What answers show of the messages of a trace, which the state for decisions does not have: times, and the others as JSON texts. */
export type OfMessages = TraceTimes & {
  readonly shape?: string | undefined
  readonly usage?: string | undefined
  readonly cost?: string | undefined
}

const asText = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value))

/** These texts of a state, as JSON text. */
const fieldTexts = <Name extends TextName>(fields: TraceFields, names: readonly Name[]): TextsOf<Name> => {
  const texts: { [Name in TextName]?: string | undefined } = {}
  for (const name of names) texts[name] = asText(fields[name])
  return texts as TextsOf<Name>
}

/** A TraceDetail from the state after a decision. Has counts once the trace has had messages. */
export const stateText = (id: string, slug: string, trace: PresentTrace, read: OfMessages): JsonText<TraceDetail> => {
  const { fields, counts, summary } = trace
  const shown = counts.messageCount > 0 ? counts : undefined
  return jsonText<TraceDetail>({
    id: JSON.stringify(id),
    externalId: JSON.stringify(trace.externalId),
    ...fieldTexts(fields, listedNames),
    ai_title: asText(summary?.title),
    visibility: JSON.stringify(fields.visibility),
    createdAt: JSON.stringify(trace.createdAt),
    updatedAt: JSON.stringify(trace.updatedAt),
    startedAt: asText(read.startedAt),
    endedAt: asText(read.endedAt),
    messageCount: JSON.stringify(counts.messageCount),
    childCount: undefined,
    shape: read.shape,
    usage: read.usage,
    cost: read.cost,
    createdBy: JSON.stringify(trace.createdBy),
    namespace: JSON.stringify({ id: trace.namespaceId, slug } satisfies TraceDetail['namespace']),
    ...fieldTexts(fields, detailNames),
    ai_summary: asText(summary?.summary),
    summaryMessageCount: asText(summary?.messageCount),
    messageTypeCounts: asText(shown?.messageTypeCounts),
    toolTypeCounts: shown && shownToolCounts(JSON.stringify(shown.toolTypeCounts)),
  })
}
