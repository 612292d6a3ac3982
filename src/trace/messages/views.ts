import { z } from 'zod'
import { id, time } from '../../http/fields.ts'
import { jsonObject } from '../../http/reply.ts'
import { messageMeanings } from '../meanings.ts'
import type { UpsertedMessage } from './decide.ts'
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

const text = (value: string | undefined) => (value === undefined ? undefined : JSON.stringify(value))

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
    parts: `[${document.parts.map((part, i) => partText(part.json, i)).join(',')}]`,
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
