import jsonpatch from 'fast-json-patch'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import type { Decision, EventContext, StreamKind } from '../../eventstore/engine/stream.ts'
import { type Room, UNLIMITED, assertFits } from '../namespace/room.ts'
import { type Arriving, assertNotArriving, exists, isSameOrigin } from './arriving.ts'
import { deletion } from './deletion.ts'
import { NO_EARLIER, earlierFields, earlierDeletions, withDeletion } from './earlier-deletions.ts'
import type { PatchOperation } from '../../base/json/patch-operation.ts'
import { type Origin, TraceEvent } from './events.ts'
import type { Counts, PresentTrace, Trace, TraceFields, TraceState } from './state.ts'
import { sizeOfTrace } from './state-size.ts'
import { NO_PARTS, headOfText } from './messages/heads.ts'
import { LoadedMessages, type MessageHead } from './messages/loaded.ts'
import { headsOf, isOfUsage, partIndex } from './messages/message.ts'
import type { StoredPart } from './messages/part.ts'
import { type UserRole, assertMayWrite } from './policy.ts'

export const noCounts: Counts = {
  messageCount: 0,
  messageTypeCounts: { user_message: 0, agent_context: 0, agent_text: 0, agent_thinking: 0, tool_call: 0 },
  toolTypeCounts: {},
}

const present = (trace: Trace): PresentTrace => {
  if (trace.is === 'absent') throw new Error('An event of a trace comes before its TraceCreated')
  return trace
}

const patched = (fields: TraceFields, patch: readonly PatchOperation[]): TraceFields => {
  const after = structuredClone(fields)
  jsonpatch.applyPatch(after, patch as jsonpatch.Operation[])
  return after
}

const restated = (data: Extract<TraceEvent, { type: 'HistoryErased' }>['data']): PresentTrace => {
  const { messageCount, messageTypeCounts, toolTypeCounts, earlier, earlierCount, ...rest } = data
  const { externalId, namespaceId, createdBy, createdAt, updatedAt, since, ...others } = rest
  const { runs: _, bytes: _bytes, erased: _erased, past: _past, movedFrom: _from, ...fields } = others
  return {
    is: 'present',
    externalId,
    namespaceId,
    createdBy,
    createdAt,
    updatedAt,
    since,
    fields: fields as TraceFields,
    counts: { messageCount, messageTypeCounts, toolTypeCounts },
    earlier: earlierDeletions({ earlier, earlierCount }),
  }
}

const evolveTrace = (trace: Trace, event: TraceEvent, { at, actor }: EventContext): Trace => {
  switch (event.type) {
    case 'TraceCreated': {
      const { externalId, namespaceId, createdBy, ...fields } = event.data
      const origin = { externalId, namespaceId, createdBy, createdAt: at, updatedAt: at }
      return { is: 'present', ...origin, fields: fields as TraceFields, counts: noCounts, earlier: trace.earlier }
    }
    case 'TraceArriving': {
      const { externalId, namespaceId, createdBy, movedFrom } = event.data
      return { is: 'absent', earlier: trace.earlier, arriving: { externalId, namespaceId, createdBy, movedFrom } }
    }
    case 'TraceUpdated': {
      const before = present(trace)
      return { ...before, fields: patched(before.fields, event.data.patch), updatedAt: at }
    }
    case 'MessageAdded':
      return { ...present(trace), updatedAt: at }
    case 'MessageUpdated':
      return isOfUsage(event.data.patch) ? trace : { ...present(trace), updatedAt: at }
    case 'MessagesCounted':
      return { ...present(trace), counts: event.data }
    case 'TraceSummarised':
      return { ...present(trace), summary: event.data as NonNullable<PresentTrace['summary']> }
    case 'TraceDeleted':
      return { is: 'absent', earlier: withDeletion(event.data, at, actor?.userId) }
    case 'MessageRestated':
      return trace
    case 'HistoryErased':
      return restated(event.data)
  }
}

type Updated = Extract<TraceEvent, { type: 'MessageUpdated' }>['data']

const updateMessage = (messages: LoadedMessages, before: MessageHead, data: Updated, at: number) => {
  const { externalId, class: kind, tools, parts, patch } = data
  const fields: Record<string, unknown> = {}
  const digests = [...(messages.digestsOf(externalId) ?? [])]
  for (const operation of patch) {
    const index = partIndex(operation.path)
    if (operation.op === 'remove') digests.length = Math.min(digests.length, index!)
    else if (index !== undefined) digests[index] = (operation.value as StoredPart).digest
    else if (operation.path === '/textContent') fields.text = headOfText(operation.value as string)
    else fields[operation.path.slice(1)] = operation.value
  }
  const updatedAt = isOfUsage(patch) ? before.updatedAt : at
  const head = { ...before, ...fields, class: kind, tools, updatedAt, ...(parts ? { parts } : {}) }
  messages.write(externalId, head, parts ? digests : undefined)
}

const evolveMessages = (messages: LoadedMessages, event: TraceEvent, at: number): LoadedMessages => {
  switch (event.type) {
    case 'TraceCreated':
    case 'TraceDeleted':
      return new LoadedMessages()
    case 'MessageAdded': {
      const { externalId, heads = headsOf(event.data), parts, class: kind } = event.data
      const { ordinal, role, model, order, timestamp, usage, tools } = event.data
      const fields = { ordinal, role, model, order, timestamp, usage, class: kind, tools, createdAt: at, updatedAt: at }
      const head = { ...fields, text: heads.text, parts: heads.parts ?? NO_PARTS }
      messages.write(
        externalId,
        head,
        parts.map(({ digest }) => digest),
      )
      return messages
    }
    case 'MessageUpdated': {
      const before = messages.find(event.data.externalId)
      if (typeof before !== 'string') updateMessage(messages, before, event.data, at)
      return messages
    }
    case 'HistoryErased':
      return new LoadedMessages(event.data.messageCount)
    case 'TraceArriving':
    case 'TraceUpdated':
    case 'MessagesCounted':
    case 'MessageRestated':
    case 'TraceSummarised':
      return messages
  }
}

const evolve = ({ trace, messages }: TraceState, event: TraceEvent, context: EventContext): TraceState => ({
  trace: evolveTrace(trace, event, context),
  messages: evolveMessages(messages, event, context.at),
})

/** Keeps only the last counts of an append, because counts are totals. */
const condense = (events: readonly TraceEvent[]) => {
  const last = events.findLast(({ type }) => type === 'MessagesCounted')
  return events.filter((event) => event.type !== 'MessagesCounted' || event === last)
}

export const traces: StreamKind<TraceState, TraceEvent> = {
  category: 'trace',
  events: TraceEvent,
  initial: () => ({ trace: { is: 'absent', earlier: NO_EARLIER }, messages: new LoadedMessages() }),
  evolve,
  draft: ({ trace, messages }) => ({ trace, messages: messages.draft() }),
  commit: ({ trace, messages }) => ({ trace, messages: messages.commit() }),
  sizeOf: sizeOfTrace,
  condense,
}

type Decide = Decision<TraceState, TraceEvent>

/** The fields of an upsert or a patch from a client: absent ones are not changed. `modelName` comes from the registry. */
export type FieldsOfUpsert = Partial<TraceFields>

const update = ({ fields }: PresentTrace, given: FieldsOfUpsert): TraceEvent[] => {
  const after: Record<string, unknown> = { ...fields, ...given }
  if (given.model !== undefined && given.modelName === undefined) delete after.modelName
  return [{ type: 'TraceUpdated', data: { patch: jsonpatch.compare(fields, after) as never } }]
}

const withVisibility = (given: FieldsOfUpsert) => ({ visibility: 'private' as const, ...given })

/**
 * Creates the trace if there is room for one more, or updates it if the writer may; without `visibility` it becomes private. An update that
 * changes nothing has an event as well, which moves `updatedAt`.
 */
export const upsert =
  (
    writer: UserRole,
    origin: { externalId: string; namespaceId: string },
    given: FieldsOfUpsert,
    room: Room = UNLIMITED,
  ): Decide =>
  (state, now, at) => {
    if (state.trace.is === 'present') return replace(writer, given)(state, now, at)
    assertNotArriving(state)
    assertFits(room, 1)
    const created = { ...origin, createdBy: writer.userId, agentId: 'unknown', ...withVisibility(given) }
    return [{ type: 'TraceCreated', data: created }]
  }

/** Like `upsert`, for an existing trace only. @throws Rejected not_found if it does not exist */
export const replace = (writer: UserRole, given: FieldsOfUpsert): Decide => patch(writer, withVisibility(given))

/**
 * A decision that refuses if the trace was deleted and not created again. @throws Rejected deleted, with `deletedAt`, the time of the last deletion
 * in milliseconds, and `movedTo`, the slug of the namespace if it was moved
 */
export const unlessDeleted =
  (decide: Decide): Decide =>
  (state, now, at) => {
    assertNotArriving(state)
    const last = state.trace.is === 'absent' ? state.trace.earlier.newest.at(-1) : undefined
    if (last)
      throw new Rejected('deleted', 'This trace was deleted: to write it again, leave out unlessDeleted', {
        details: { deletedAt: last.deletedAt, ...(last.movedTo ? { movedTo: last.movedTo.slug } : {}) },
      })
    return decide(state, now, at)
  }

/** Changes the given fields of an existing trace. All others stay, also `visibility`. */
export const patch =
  (writer: UserRole, given: FieldsOfUpsert): Decide =>
  ({ trace }) => {
    if (trace.is === 'absent') throw new Rejected('not_found', 'Not found')
    assertMayWrite(trace, writer)
    return update(trace, given)
  }

/**
 * Gives a trace another title. `seen` is the title that the writer has seen.
 * @throws Rejected changed if it has a third one by now
 */
export const rename =
  (writer: UserRole, title: string, seen: string | undefined): Decide =>
  ({ trace }) => {
    if (trace.is === 'absent') throw new Rejected('not_found', 'Not found')
    assertMayWrite(trace, writer)
    if (trace.fields.title === title) return []
    if (trace.fields.title !== seen) throw new Rejected('changed', 'The trace was renamed meanwhile')
    return update(trace, { title })
  }

/**
 * Lets a trace be moved here: until `HistoryErased` completes it there is none, and no other can be created. Does nothing if it is being moved already.
 * @throws Rejected exists
 */
export const arrive =
  ({ externalId, namespaceId, createdBy, movedFrom }: Arriving): Decide =>
  ({ trace }) => {
    if (trace.is === 'present') throw exists(externalId)
    if (trace.arriving && !isSameOrigin(trace.arriving.movedFrom, movedFrom)) throw exists(externalId)
    if (trace.arriving) return []
    const data = { externalId, namespaceId, createdBy, movedFrom, ...earlierFields(trace.earlier) }
    return [{ type: 'TraceArriving', data }]
  }

/** Takes back a trace that is being moved here, unless it has been completed. `from` is where it comes from; undefined: anywhere. */
export const withdraw =
  (from?: Origin): Decide =>
  ({ trace }, now) => {
    if (trace.is === 'present' || !trace.arriving || (from && !isSameOrigin(trace.arriving.movedFrom, from))) return []
    const { externalId, namespaceId, createdBy } = trace.arriving
    const data = { externalId, namespaceId, createdBy, createdAt: now, messageCount: 0, withdrawn: true as const }
    return [{ type: 'TraceDeleted', data: { ...data, ...earlierFields(trace.earlier) } }]
  }

/** Deletes a trace. The event needs no earlier one, because all of them are erased. */
export const remove =
  (writer: UserRole): Decide =>
  ({ trace }) => {
    if (trace.is === 'absent') throw new Rejected('not_found', 'Not found')
    assertMayWrite(trace, writer)
    return [deletion(trace)]
  }

/** Moves `updatedAt` of a trace for the service itself, unless it has last changed before `due` (milliseconds) or does not exist. */
export const touchUnchanged =
  (due: number | undefined): Decide =>
  ({ trace }) =>
    trace.is === 'absent' || (due !== undefined && trace.updatedAt < due) ? [] : update(trace, {})

/** Deletes a trace for the service itself, unless it has changed at `since` (milliseconds) or later, or does not exist. */
export const removeUnchanged =
  (since: number): Decide =>
  ({ trace }) =>
    trace.is === 'present' && trace.updatedAt < since ? [deletion(trace)] : []
