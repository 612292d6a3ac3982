import { z } from 'zod'
import { PlainNumber } from '../contract/fields.ts'
import { MessageRole, Part } from '../contract/message.ts'
import { MessageTypeCounts, Visibility } from '../contract/trace.ts'
import { shapeOf, textNames } from '../contract/trace-texts.ts'
import { event } from '../engine/stream.ts'
import { PatchOperation } from '../base/json/patch-operation.ts'
import { PART_KINDS, type PartsHead } from './messages/heads.ts'
import type { MessageHeads } from './messages/message.ts'
import type { StoredPart } from './messages/part.ts'

export const MessageClass = z.enum(['user_message', 'agent_context', 'agent_text', 'agent_thinking', 'tool_call'])
export type MessageClass = z.infer<typeof MessageClass>

/** The texts of a trace (`../contract/trace-texts.ts`) as events hold them: of any length, for they may be older than a cap. */
const storedTexts = shapeOf(textNames, () => z.string())

/** How a message was counted: a correction takes back exactly this. */
const counted = {
  class: MessageClass,
  /** For each call the name under which it counts: that of its tool, normalised, or `other` (`messages/tool-counts.ts`). */
  tools: z.array(z.string()),
}

/** In the log parts are plain JSON, and checked as that; what reads them makes them stored parts (`formats.ts`). */
const Parts = z.array(Part) as unknown as z.ZodType<readonly StoredPart[]>

/** Made from the data where they are read; never in the log. */
const Heads = z.undefined().optional() as unknown as z.ZodOptional<z.ZodType<MessageHeads>>

/** The head of all parts (`messages/heads.ts`); an event of before does not tell it. */
const ChangedParts: z.ZodType<PartsHead | 'unknown'> = z.union([
  z.object({ count: z.int(), length: z.int(), kinds: z.array(z.enum(PART_KINDS)), digest: z.string() }),
  z.literal('unknown'),
])

/** Stream `trace-<id>`: the trace and its messages. Times are milliseconds. */
export const TraceEvent = z.discriminatedUnion('type', [
  event('TraceCreated', {
    externalId: z.string(),
    namespaceId: z.string(),
    createdBy: z.string(),
    ...storedTexts,
    visibility: Visibility,
  }),
  event('TraceUpdated', { patch: z.array(PatchOperation) }),
  event('MessageAdded', {
    externalId: z.string(),
    /** The message's place by arrival, from 0. */
    ordinal: z.int(),
    role: MessageRole,
    textContent: z.string().optional(),
    model: z.string().optional(),
    order: PlainNumber.optional(),
    timestamp: PlainNumber.optional(),
    ...counted,
    heads: Heads,
    parts: Parts,
  }),
  event('MessageUpdated', {
    externalId: z.string(),
    ordinal: z.int(),
    ...counted,
    /** What the parts are now; absent where the patch leaves them as they are. */
    parts: ChangedParts.optional(),
    patch: z.array(PatchOperation),
  }),
  event('MessagesCounted', {
    messageCount: z.int(),
    messageTypeCounts: MessageTypeCounts,
    toolTypeCounts: z.record(z.string(), z.int()),
  }),
  event('TraceSummarised', { title: z.string().optional(), summary: z.string(), messageCount: z.int() }),
  event('TraceDeleted', {
    externalId: z.string(),
    namespaceId: z.string(),
    createdBy: z.string(),
    createdAt: z.int(),
    messageCount: z.int(),
    /** The stream's newest earlier deletions, whose own events are erased with the rest. */
    earlier: z.array(
      z.object({
        createdAt: z.int(),
        deletedAt: z.int(),
        deletedBy: z.string().optional(),
        messageCount: z.int().optional(),
      }),
    ),
    /** How many there were, when those are not all. */
    earlierCount: z.int().optional(),
  }),
])
export type TraceEvent = z.infer<typeof TraceEvent>
