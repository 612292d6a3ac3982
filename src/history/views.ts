import { z } from 'zod'
import { count, id, text, time } from '../contract/fields.ts'
import { jsonObject } from '../http/reply.ts'
import { entryMeanings, entryTypes } from './entry-types.ts'
import type { EntryRow } from './entry-queries.ts'
import type { Names } from './names.ts'
import { sentenceOf } from './sentences.ts'

const path = text('Which member, as a JSON pointer', '/title')
const value = z.unknown().meta({ description: 'What it is from then on', examples: ['Mended'] })
const Operation = z.discriminatedUnion('op', [
  z.object({ op: z.enum(['add', 'replace']).meta({ description: 'Sets a member' }), path, value }),
  z.object({ op: z.literal('remove').meta({ description: 'Removes a member' }), path }),
])

export const Patch = z
  .array(Operation)
  .meta({ description: 'What changed, as RFC 6902', examples: [[{ op: 'replace', path: '/title', value: 'Mended' }]] })

const EntryType = z.enum(entryTypes).meta({
  id: 'EntryType',
  description: `What an entry of a timeline is about: ${entryTypes.map((type) => `\`${type}\`: ${entryMeanings[type]}`).join('; ')}`,
})

export const Entry = z
  .object({
    revision: z.int().meta({ description: 'The revision of the last event that the entry stands for', examples: [4] }),
    type: EntryType,
    at: time('When it happened'),
    actor: z
      .object({ userId: id('the user'), displayName: text('The name of the user now', 'Ada').optional() })
      .meta({ description: 'Who did it; absent where the service itself did' })
      .optional(),
    text: text('What happened, in one sentence, with the names of now', 'Ada made the trace public'),
    trace: z
      .object({ id: id('the trace'), externalId: text('The externalId of the trace') })
      .meta({ description: 'The trace that it happened to; in the timeline of a namespace only' })
      .optional(),
    messages: z
      .object({ added: count('How many messages were new'), updated: count('How many were changed') })
      .meta({ description: 'Of `MessagesUpserted` only' })
      .optional(),
    patch: Patch.optional(),
    requestId: text('The `x-request-id` of the request that did it').optional(),
    messageCount: count('Of a deletion: how many messages the trace had').optional(),
    createdAt: time('Of a deletion: when the trace was created').optional(),
  })
  .meta({ id: 'TimelineEntry', description: 'Something that happened to a trace or a namespace, and who did it' })

type Data = {
  readonly patch?: unknown
  readonly externalId?: string
  readonly messageCount?: number
  readonly createdAt?: number
}

const OF_DELETION = 'TraceDeleted'

const traceOf = ({ stream_id, external_id, type }: EntryRow, data: Data) => {
  const externalId = type === OF_DELETION ? data.externalId : external_id
  return JSON.stringify({ id: stream_id, externalId })
}

const asText = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value))

/** An Entry as JSON text; with its trace in the timeline of a namespace. */
export const entryText = (row: EntryRow, names: Names, namesTrace: boolean): string => {
  const data = JSON.parse(row.data ?? '{}') as Data
  const { type, actor, added, updated } = row
  const isDeletion = type === OF_DELETION
  const told = { type, actor: actor ?? undefined, data, added: added ?? 0, updated: updated ?? 0, nameOf: names.nameOf }
  return jsonObject({
    revision: String(row.revision),
    type: `"${type}"`,
    at: String(row.at),
    actor: actor === null ? undefined : JSON.stringify({ userId: actor, displayName: names.displayName(actor) }),
    text: JSON.stringify(sentenceOf(told)),
    trace: namesTrace && row.stream_id !== row.namespace_id ? traceOf(row, data) : undefined,
    messages: added === null ? undefined : JSON.stringify({ added, updated }),
    patch: asText(data.patch),
    requestId: row.request_id === null ? undefined : JSON.stringify(row.request_id),
    messageCount: isDeletion ? asText(data.messageCount) : undefined,
    createdAt: isDeletion ? asText(data.createdAt) : undefined,
  })
}
