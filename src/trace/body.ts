import { z } from 'zod'
import { Key } from '../http/keys.ts'
import type { GivenFields } from './decide.ts'
import { Visibility } from './events.ts'
import { MessageRole, Part, PlainNumber } from './part.ts'

const written = {
  agentId: z.string().optional(),
  title: z.string().optional(),
  projectPath: z.string().optional(),
  projectName: z.string().optional(),
  model: z.string().optional(),
  gitRemoteUrl: z.string().optional(),
  gitBranch: z.string().optional(),
  gitRef: z.string().optional(),
  visibility: Visibility.optional(),
}

export const TraceUpsert = z.object(written).meta({ id: 'TraceUpsert' })
export type TraceUpsert = z.infer<typeof TraceUpsert>

export const TraceCreate = z.object({ externalId: Key, ...written }).meta({ id: 'TraceCreate' })
export type TraceCreate = z.infer<typeof TraceCreate>

const message = {
  role: MessageRole,
  textContent: z.string().optional(),
  model: z.string().optional(),
  order: PlainNumber.optional(),
  timestamp: PlainNumber.optional(),
  parts: z.array(Part).optional(),
}

export const MessageBody = z.object(message).meta({ id: 'MessageUpsert' })
export type MessageBody = z.infer<typeof MessageBody>

export const BatchBody = z
  .object({
    messages: z
      .array(z.object({ externalId: Key, ...message }))
      .min(1)
      .max(200),
  })
  .meta({ id: 'MessageBatch' })
export type BatchBody = z.infer<typeof BatchBody>

const names = Object.keys(written) as (keyof typeof written)[]

/** The known members that a body has of its own; anything else in it is nobody's business. */
export const givenFields = (body: TraceUpsert): GivenFields => {
  const fields: Record<string, unknown> = {}
  for (const name of names) if (Object.hasOwn(body, name) && body[name] !== undefined) fields[name] = body[name]
  return fields as GivenFields
}
