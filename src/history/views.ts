import type { EntryType } from '../contract/entry-types.ts'
import type { Entry } from '../contract/history.ts'
import { type JsonText, jsonText } from '../http/json-text.ts'
import type { EntryRow } from './entry-queries.ts'
import type { Names } from './names.ts'
import { sentenceOf } from './sentences.ts'

type Data = {
  readonly patch?: unknown
  readonly externalId?: string
  readonly messageCount?: number
  readonly createdAt?: number
  readonly erased?: number
}

const OF_DELETION = 'TraceDeleted'

const traceOf = ({ stream_id, external_id, type }: EntryRow, data: Data) => {
  const externalId = type === OF_DELETION ? data.externalId : external_id
  return JSON.stringify({ id: stream_id, externalId })
}

const asText = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value))

/** An Entry as JSON text; in the timeline of a namespace with its trace. */
export const entryText = (row: EntryRow, names: Names, namesTrace: boolean): JsonText<Entry> => {
  const data = JSON.parse(row.data ?? '{}') as Data
  const { type, actor, added, updated } = row
  const isDeletion = type === OF_DELETION
  const input = {
    type,
    actor: actor ?? undefined,
    data,
    nameOf: names.nameOf,
    added: added ?? 0,
    updated: updated ?? 0,
  }
  return jsonText({
    revision: String(row.revision),
    type: `"${type satisfies EntryType}"`,
    at: String(row.at),
    actor: actor === null ? undefined : JSON.stringify({ userId: actor, displayName: names.displayName(actor) }),
    text: JSON.stringify(sentenceOf(input)),
    trace: namesTrace && row.stream_id !== row.namespace_id ? traceOf(row, data) : undefined,
    messages: added === null ? undefined : JSON.stringify({ added, updated }),
    patch: asText(data.patch),
    requestId: row.request_id === null ? undefined : JSON.stringify(row.request_id),
    messageCount: isDeletion ? asText(data.messageCount) : undefined,
    createdAt: isDeletion ? asText(data.createdAt) : undefined,
    erased: type === 'HistoryErased' ? asText(data.erased) : undefined,
  })
}
