import { z } from 'zod'
import { id, time } from '../../contract/fields.ts'
import { jsonObject } from '../../http/reply.ts'
import { messageId } from '../../ids.ts'
import { messageMeanings } from '../meanings.ts'
import type { MessageDocument } from './message.ts'
import { partText } from './part-text.ts'
import { MessageRole, Part, PlainNumber } from './part.ts'

const MESSAGE_ROLE = 'Who speaks: the user, the agent (`assistant`), or the system'
const PART_ORDER = 'The place of the part in its message, from 0'

/** Answers are joined from stored JSON text; this schema describes them in the OpenAPI document and in tests. */
export const Message = z
  .object({
    id: id('the message'),
    externalId: z.string().meta(messageMeanings.externalId),
    role: MessageRole.meta({ description: MESSAGE_ROLE }),
    textContent: z.string().meta(messageMeanings.textContent).optional(),
    model: z.string().meta(messageMeanings.model).optional(),
    order: PlainNumber.meta(messageMeanings.order).optional(),
    timestamp: PlainNumber.meta(messageMeanings.timestamp).optional(),
    createdAt: time('When the service first got the message'),
    updatedAt: time('When the message was last changed'),
    parts: z
      .array(z.intersection(z.object({ order: z.int().meta({ description: PART_ORDER, examples: [0] }) }), Part))
      .meta({ description: 'What the message is made of, in order; in lists only with `includeParts=true`' })
      .optional(),
  })
  .meta({ id: 'Message', description: 'A message of a trace' })

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

/** A message with its document; times are milliseconds. */
export type TimedDocument = {
  readonly externalId: string
  readonly document: Omit<MessageDocument, 'parts'> & Partial<Pick<MessageDocument, 'parts'>>
  readonly createdAt: number
  readonly updatedAt: number
}

const json = (value: string | undefined) => (value === undefined ? null : JSON.stringify(value))

/** A row as the read models would give it. */
export const rowOf = (traceId: string, message: TimedDocument, includeParts: boolean): MessageRow => {
  const { externalId, document, createdAt, updatedAt } = message
  const { role, textContent, model, order, timestamp, parts = [] } = document
  return {
    id: messageId(traceId, externalId),
    external_id: externalId,
    role,
    text_content: json(textContent),
    model: json(model),
    sequence: order ?? null,
    timestamp: timestamp ?? null,
    created_at: BigInt(createdAt),
    updated_at: BigInt(updatedAt),
    ...(includeParts ? { parts: parts.map((part, i) => partText(part.json, i)).join(',') } : {}),
  }
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

/** Parts of more bytes are left out of the answer to the upsert of a message. */
export const MOST_PARTS_BYTES = 256 * 1024

/** What an upsert of one message answers: with its parts where they are not too many bytes. */
export const upsertedText = (row: MessageRow): string => {
  if (row.parts !== undefined && Buffer.byteLength(row.parts ?? '') <= MOST_PARTS_BYTES)
    return `{"message":${messageText(row)}}`
  const { parts: _, ...message } = row
  return `{"message":${messageText(message)},"partsOmitted":true}`
}
