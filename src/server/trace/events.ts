import { z } from 'zod'
import { PlainNumber } from '../../contract/fields.ts'
import { MessageRole, Part } from '../../contract/message.ts'
import { MessageTypeCounts, Visibility } from '../../contract/trace.ts'
import { shapeOf, textNames } from '../../contract/trace-texts.ts'
import { Usage } from '../../contract/usage.ts'
import { event } from '../../eventstore/engine/stream.ts'
import { PatchOperation } from '../../base/json/patch-operation.ts'
import { PART_KINDS, type PartsHead } from './messages/heads.ts'
import { MessageClass } from './messages/message-class.ts'
import type { MessageHeads } from './messages/message.ts'
import type { StoredPart } from './messages/part.ts'

/** The texts of a trace (`../../contract/trace-texts.ts`) in events. Without maximum lengths, because events may be older than these. */
const storedTexts = shapeOf(textNames, () => z.string())

/** How a message was counted. When it changes, exactly this is subtracted. */
const counted = {
  class: MessageClass,
  /** For each call the normalised name of its tool, or `other` if it is counted as that for good (`messages/tool-counts.ts`). */
  tools: z.array(z.string()),
}

/** In the log parts are plain JSON, and validated as such. Decoding turns them into stored parts (`formats.ts`). */
const Parts = z.array(Part) as unknown as z.ZodType<readonly StoredPart[]>

/** A namespace that a trace was moved from or to. A slug names one namespace for good. */
const Place = z.object({ namespaceId: z.string(), slug: z.string() })
export type Place = z.infer<typeof Place>

/**
 * Where a trace is moved from: its namespace, and how often it had been deleted there before, which tells its present life from those before and after.
 */
const Origin = Place.extend({ deletions: z.int() })
export type Origin = z.infer<typeof Origin>

/** The newest earlier deletions of the trace, whose own events are erased. */
const earlierDeletions = {
  earlier: z.array(
    z.object({
      createdAt: z.int(),
      deletedAt: z.int(),
      deletedBy: z.string().optional(),
      messageCount: z.int(),
      movedTo: Place.optional(),
    }),
  ),
  /** The number of all earlier deletions, if `earlier` does not have all. */
  earlierCount: z.int().optional(),
}

/** An entry of the timeline whose event is erased: who, when, and numbers, without content. */
const PastEntry = z.object({
  type: z.string(),
  revision: z.int(),
  at: z.int(),
  actor: z.string().optional(),
  requestId: z.string().optional(),
  added: z.int().optional(),
  updated: z.int().optional(),
  /** How many messages a summary was made of, or how many events an erased past had. */
  count: z.int().optional(),
  movedFrom: Place.optional(),
})
export type PastEntry = z.infer<typeof PastEntry>

/** Computed from the data during decoding; never in the log. */
const Heads = z.undefined().optional() as unknown as z.ZodOptional<z.ZodType<MessageHeads>>

/** The head of all parts (`messages/heads.ts`). */
const ChangedParts: z.ZodType<PartsHead> = z.object({
  count: z.int(),
  length: z.int(),
  kinds: z.array(z.enum(PART_KINDS)),
  digest: z.string(),
})

const messageFields = {
  externalId: z.string(),
  /** The number of the message in the order of arrival, from 0. */
  ordinal: z.int(),
  role: MessageRole,
  textContent: z.string().optional(),
  model: z.string().optional(),
  order: PlainNumber.optional(),
  timestamp: PlainNumber.optional(),
  usage: Usage.optional(),
  ...counted,
  heads: Heads,
  parts: Parts,
}

const totals = {
  messageCount: z.int(),
  messageTypeCounts: MessageTypeCounts,
  toolTypeCounts: z.record(z.string(), z.int()),
}

/** Stream `trace-<id>`: the trace and its messages. Times are milliseconds. */
export const TraceEvent = z.discriminatedUnion('type', [
  event('TraceCreated', {
    externalId: z.string(),
    namespaceId: z.string(),
    createdBy: z.string(),
    ...storedTexts,
    visibility: Visibility,
  }),
  /**
   * A trace is being moved here: its messages follow in restatements, and `HistoryErased` completes it. Until then there is no trace, and nobody can create one. A
   * `TraceDeleted` that is `withdrawn` ends it without one.
   */
  event('TraceArriving', {
    externalId: z.string(),
    namespaceId: z.string(),
    createdBy: z.string(),
    movedFrom: Origin,
    ...earlierDeletions,
  }),
  event('TraceUpdated', { patch: z.array(PatchOperation) }),
  event('MessageAdded', messageFields),
  event('MessageUpdated', {
    externalId: z.string(),
    ordinal: z.int(),
    ...counted,
    /** The head of the parts after the patch; absent if the patch does not change them. */
    parts: ChangedParts.optional(),
    patch: z.array(PatchOperation),
  }),
  event('MessagesCounted', totals),
  event('TraceSummarised', { title: z.string().optional(), summary: z.string(), messageCount: z.int() }),
  event('TraceDeleted', {
    externalId: z.string(),
    namespaceId: z.string(),
    createdBy: z.string(),
    createdAt: z.int(),
    messageCount: z.int(),
    /** Where it was moved to. */
    movedTo: Place.optional(),
    /** What was moved here is taken back, because the move has failed. Nobody has deleted it. */
    withdrawn: z.literal(true).optional(),
    ...earlierDeletions,
  }),
  /**
   * The present state of a message, for an erasure of the past. It counts only if `HistoryErased` follows the last restated message, without
   * another event between them; until then no reader sees it.
   */
  event('MessageRestated', {
    ...messageFields,
    namespaceId: z.string(),
    createdAt: z.int(),
    updatedAt: z.int(),
    /** The revision at which this restatement begins, as a name for it: in a copy of the log it may begin at a later one. */
    since: z.int(),
    /** The append of the last event of the model registry before the usage was written: those prices count. Absent without one. */
    priced: z.string().optional(),
  }),
  /**
   * The present state of the trace; its messages are the restated ones before this event. Everything before `since` is erased. With `movedFrom` it is the
   * state of a trace of another namespace.
   */
  event('HistoryErased', {
    externalId: z.string(),
    namespaceId: z.string(),
    createdBy: z.string(),
    ...storedTexts,
    visibility: Visibility,
    createdAt: z.int(),
    updatedAt: z.int(),
    ...totals,
    /** The `since` of the restated messages, or the revision of this event if the trace has none. In a copy of the log both may be later. */
    since: z.int(),
    /** The restated messages: runs of `[first ordinal, first revision, number of messages]`. In a copy of the log the revisions may be others. */
    runs: z.array(z.tuple([z.int(), z.int(), z.int()])),
    /** The length of the data of the restated messages, in characters. */
    bytes: z.int(),
    /** How many events could be read before and are erased. */
    erased: z.int(),
    past: z.array(PastEntry),
    /** Where it was moved from, with the id of the last event that it had there: this is what it was then. */
    movedFrom: Origin.extend({ last: z.string() }).optional(),
    ...earlierDeletions,
  }),
])
export type TraceEvent = z.infer<typeof TraceEvent>

/** The types of events with which a trace's stream may begin: also after an erasure of what was before. */
export const FIRST_TYPES: ReadonlySet<string> = new Set<TraceEvent['type']>([
  'TraceCreated',
  'TraceArriving',
  'TraceDeleted',
  'MessageRestated',
  'HistoryErased',
])
