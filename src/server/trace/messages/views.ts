import type { Message } from '../../../contract/message.ts'
import type { UpsertedMessage } from '../../../contract/messages.ts'
import { type JsonText, jsonText } from '../../http/json-text.ts'
import { messageId } from '../../../base/ids.ts'
import type { MessageDocument } from './message.ts'
import { partText } from './part.ts'

export type MessageRow = {
  id: string
  external_id: string
  role: string
  text_content: string | null
  model: string | null
  sequence: number | null
  timestamp: number | null
  /** JSON text of a `Usage`. */
  usage: string | null
  created_at: bigint
  updated_at: bigint
  /** The JSON texts of the parts, separated by commas; absent if parts are not asked for. */
  parts?: string | null
}

/** A message with its document. Times are milliseconds. */
export type TimedDocument = {
  readonly externalId: string
  readonly document: Omit<MessageDocument, 'parts'> & Partial<Pick<MessageDocument, 'parts'>>
  readonly createdAt: number
  readonly updatedAt: number
}

const json = (value: string | undefined) => (value === undefined ? null : JSON.stringify(value))

/** The row of a message, as a query would return it. */
export const rowOf = (traceId: string, message: TimedDocument, includeParts: boolean): MessageRow => {
  const { externalId, document, createdAt, updatedAt } = message
  const { role, textContent, model, order, timestamp, usage, parts = [] } = document
  return {
    id: messageId(traceId, externalId),
    external_id: externalId,
    role,
    text_content: json(textContent),
    model: json(model),
    sequence: order ?? null,
    timestamp: timestamp ?? null,
    usage: usage ? JSON.stringify(usage) : null,
    created_at: BigInt(createdAt),
    updated_at: BigInt(updatedAt),
    ...(includeParts ? { parts: parts.map((part, i) => partText(part.json, i)).join(',') } : {}),
  }
}

/** The JSON text of a message from its row. */
export const messageText = (row: MessageRow): JsonText<Message> =>
  jsonText({
    id: `"${row.id}"`,
    externalId: JSON.stringify(row.external_id),
    role: `"${row.role}"`,
    textContent: row.text_content,
    model: row.model,
    order: row.sequence?.toString(),
    timestamp: row.timestamp?.toString(),
    usage: row.usage,
    createdAt: String(row.created_at),
    updatedAt: String(row.updated_at),
    parts: row.parts === undefined ? undefined : `[${row.parts ?? ''}]`,
  })

/** The answer to an upsert of a message leaves out the parts if they have more bytes than this. */
export const MOST_PARTS_BYTES = 256 * 1024

/** The JSON text of the message in the answer to its upsert: with its parts, if they are not too large. */
export const upsertedText = (row: MessageRow, revision: number): JsonText<UpsertedMessage> => {
  if (row.parts !== undefined && Buffer.byteLength(row.parts ?? '') <= MOST_PARTS_BYTES)
    return jsonText({ message: messageText(row), partsOmitted: undefined, revision: String(revision) })
  const { parts: _, ...message } = row
  return jsonText({ message: messageText(message), partsOmitted: 'true', revision: String(revision) })
}
