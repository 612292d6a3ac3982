import { z } from 'zod'
import { check, checkEach } from '../http/body.ts'
import { invalid } from '../http/errors.ts'
import { Key, LongText, ShortText } from '../http/keys.ts'
import type { GivenFields } from './decide.ts'
import { Visibility } from './events.ts'
import { MessageRole, PartBody, PlainNumber } from './part.ts'

const written = {
  agentId: ShortText.optional(),
  title: LongText.optional(),
  projectPath: LongText.optional(),
  projectName: ShortText.optional(),
  model: ShortText.optional(),
  gitRemoteUrl: LongText.optional(),
  gitBranch: ShortText.optional(),
  gitRef: ShortText.optional(),
  visibility: Visibility.optional(),
}

export const TraceUpsert = z.object(written).meta({ id: 'TraceUpsert' })
export type TraceUpsert = z.infer<typeof TraceUpsert>

export const TraceCreate = z.object({ externalId: Key, ...written }).meta({ id: 'TraceCreate' })
export type TraceCreate = z.infer<typeof TraceCreate>

const MOST_PARTS = 2_000

const message = {
  role: MessageRole,
  textContent: z.string().optional(),
  model: ShortText.optional(),
  order: PlainNumber.optional(),
  timestamp: PlainNumber.optional(),
  parts: z.array(PartBody).meta({ maxItems: MOST_PARTS }).optional(),
}

export const MessageBody = z.object(message).meta({ id: 'MessageUpsert' })
export type MessageBody = z.infer<typeof MessageBody>

const BatchItem = z.object({ externalId: Key, ...message })

const MOST_MESSAGES = 200
const MOST_BATCH_PARTS = 20_000

const batchOf = <Item extends z.ZodType>(item: Item) => z.object({ messages: z.array(item).min(1).max(MOST_MESSAGES) })

export const BatchBody = batchOf(BatchItem).meta({ id: 'MessageBatch' })
export type BatchBody = z.infer<typeof BatchBody>

const countParts = (message: unknown): number => {
  const parts = (message as { parts?: unknown } | null | undefined)?.parts
  return Array.isArray(parts) ? parts.length : 0
}

const assertFewParts = (messages: readonly unknown[], field: string) => {
  const counts = messages.map(countParts)
  if (counts.some((count) => count > MOST_PARTS)) throw invalid(field, `at most ${MOST_PARTS} parts in a message`)
  const sum = counts.reduce((total, count) => total + count, 0)
  if (sum > MOST_BATCH_PARTS) throw invalid(field, `at most ${MOST_BATCH_PARTS} parts in a batch`)
}

/** Counts before anything is looked at: what is wrong with a million parts nobody wants to know. */
export const checkMessageBody = (body: unknown): unknown => {
  assertFewParts([body], 'parts')
  return check(MessageBody, body)
}

const BatchFrame = batchOf(z.unknown())

export const checkBatchBody = (body: unknown): unknown => {
  const { messages } = check(BatchFrame, body) as z.infer<typeof BatchFrame>
  assertFewParts(messages, 'messages')
  checkEach('messages', BatchItem, messages)
  return body
}

const names = Object.keys(written) as (keyof typeof written)[]

/** The known members that a body has of its own; anything else in it is nobody's business. */
export const givenFields = (body: TraceUpsert): GivenFields => {
  const fields: Record<string, unknown> = {}
  for (const name of names) if (Object.hasOwn(body, name) && body[name] !== undefined) fields[name] = body[name]
  return fields as GivenFields
}
