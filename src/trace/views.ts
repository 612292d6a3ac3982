import { z } from 'zod'
import { count, id, text as textField, time } from '../contract/fields.ts'
import { pickDefined } from '../http/pick-defined.ts'
import { jsonObject } from '../http/reply.ts'
import type { PresentTrace } from './decide.ts'
import { MessageTypeCounts, Visibility } from './events.ts'
import { type TextName, columnOf, detailNames, listedNames, shownTexts } from './fields.ts'
import { traceMeanings } from './meanings.ts'
import { PlainNumber } from './messages/part.ts'
import { type TraceRow } from './rows.ts'

/** A time that clients give: any number. */
const timestamp = (description: string) => PlainNumber.meta({ description, examples: [1_767_366_245_000] })

/** Answers are joined from stored JSON text; these schemas describe them in the OpenAPI document and in tests. */
const listed = z.object({
  id: id('the trace'),
  externalId: z.string().meta(traceMeanings.externalId),
  ...shownTexts(listedNames),
  ai_title: textField('The title that the service made from the messages').optional(),
  visibility: Visibility,
  createdAt: time('When the service first got the trace'),
  updatedAt: time('When the trace or one of its messages was last written').optional(),
  startedAt: timestamp('When it began: the smallest `timestamp` of its messages; absent where none has one').optional(),
  endedAt: timestamp('When it ended: the largest `timestamp` of its messages; absent where none has one').optional(),
  messageCount: count('How many messages the trace has').optional(),
})

export const TraceSummary = listed
  .extend({ createdBy: id('the user who created the trace') })
  .meta({ id: 'TraceSummary', description: 'A trace as it stands in lists: one recorded session of an agent' })

export const TraceDetail = TraceSummary.extend({
  namespace: z
    .object({ id: id('the namespace'), slug: textField('The slug of the namespace; empty when it is not known') })
    .meta({ description: 'The namespace that the trace belongs to' }),
  ...shownTexts(detailNames),
  ai_summary: textField('The summary that the service made from the messages').optional(),
  summaryMessageCount: count('How many messages the trace had when its summary was made').optional(),
  messageTypeCounts: MessageTypeCounts.meta({
    description: 'How many messages of each class the trace has; absent while it has none',
  }).optional(),
  toolTypeCounts: z
    .record(z.string(), z.int())
    .meta({
      description:
        'How many calls of each tool the trace has, by the normalised name of the tool; rare ones as `other`',
      examples: [{ bash: 12, edit: 4 }],
    })
    .optional(),
}).meta({ id: 'TraceDetail', description: 'A trace with all that is known of it but its messages' })

export const FeedTrace = listed
  .extend({
    namespace: z
      .object({
        id: id('the namespace'),
        slug: textField('The slug of the namespace', 'my-team'),
        displayName: textField('The name of the namespace', 'My team'),
      })
      .meta({ description: 'The namespace that the trace belongs to' }),
    author: z
      .object({
        id: id('the user'),
        displayName: textField('The name of the user, if they gave one', 'Ada').optional(),
      })
      .meta({ description: 'The user who created the trace; absent when that one is not known' })
      .optional(),
  })
  .meta({ id: 'FeedTrace', description: 'A trace as it stands in the feed' })

/** Some of a row's texts, which are JSON already. */
const textsOf = (row: TraceRow, names: readonly TextName[]) => {
  const texts: { [Name in TextName]?: string | null } = {}
  for (const name of names) texts[name] = row[columnOf[name]]
  return texts
}

/** The members of a trace in any list as JSON text. */
export const listedMembers = (row: TraceRow) => ({
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
})

const summaryMembers = (row: TraceRow) => ({ ...listedMembers(row), createdBy: `"${row.created_by}"` })

export const summaryText = (row: TraceRow): string => jsonObject(summaryMembers(row))

export type DetailRow = TraceRow & { message_types: string | null; tool_types: string | null; slug: string | null }

/** A TraceDetail from its row. */
export const detailText = (row: DetailRow): string =>
  jsonObject({
    ...summaryMembers(row),
    namespace: JSON.stringify({ id: row.namespace_id, slug: row.slug ?? '' }),
    ...textsOf(row, detailNames),
    ai_summary: row.ai_summary,
    summaryMessageCount: row.summary_message_count?.toString(),
    messageTypeCounts: row.message_types,
    toolTypeCounts: row.tool_types,
  })

/** When a trace began and ended, as its messages say: in milliseconds since 1970; absent where none has a timestamp. */
export type TraceTimes = { readonly startedAt?: number | undefined; readonly endedAt?: number | undefined }

/** A TraceDetail from the state right after a decision, which does not know its times. Counts are shown once there were messages. */
export const stateText = (id: string, slug: string, trace: PresentTrace, times: TraceTimes): string => {
  const { fields, counts, summary } = trace
  const { messageTypeCounts, toolTypeCounts } = counts
  const hasCounts = counts.messageCount > 0
  return JSON.stringify({
    id,
    externalId: trace.externalId,
    ...pickDefined(fields, listedNames),
    ai_title: summary?.title,
    visibility: fields.visibility,
    createdAt: trace.createdAt,
    updatedAt: trace.updatedAt,
    ...times,
    messageCount: counts.messageCount,
    namespace: { id: trace.namespaceId, slug },
    createdBy: trace.createdBy,
    ...pickDefined(fields, detailNames),
    ai_summary: summary?.summary,
    summaryMessageCount: summary?.messageCount,
    ...(hasCounts ? { messageTypeCounts, toolTypeCounts } : {}),
  })
}
