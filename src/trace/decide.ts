import jsonpatch from 'fast-json-patch'
import { Rejected } from '../engine/rejected.ts'
import type { Decision, EventContext, StreamKind } from '../engine/stream.ts'
import { type Earlier, NO_EARLIER, endedBy, toldOf } from './earlier.ts'
import { type MessageClass, type MessageTypeCounts, TraceEvent, type Visibility } from './events.ts'
import { weighTrace } from './kept.ts'
import { KnownMessages } from './known-messages.ts'
import { type MessageDocument, applyPatch } from './message.ts'
import { type Member, assertMayWrite } from './policy.ts'

export type TraceFields = {
  readonly agentId: string
  readonly title?: string
  readonly projectPath?: string
  readonly projectName?: string
  readonly model?: string
  readonly modelName?: string
  readonly gitRemoteUrl?: string
  readonly gitBranch?: string
  readonly gitRef?: string
  readonly visibility: Visibility
}

export type Counts = {
  readonly messageCount: number
  readonly messageTypeCounts: MessageTypeCounts
  readonly toolTypeCounts: Readonly<Record<string, number>>
}

/** What a decision knows of a message without its document. */
export type KnownMessage = {
  readonly ordinal: number
  readonly digest: string
  readonly class: MessageClass
  readonly tools: readonly string[]
  readonly createdAt: number
  readonly updatedAt: number
}

export type PresentTrace = {
  readonly is: 'present'
  readonly externalId: string
  readonly namespaceId: string
  readonly createdBy: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly fields: TraceFields
  readonly counts: Counts
  readonly summary?: { readonly title?: string; readonly summary: string; readonly messageCount: number }
  readonly earlier: Earlier
  /** Messages by externalId, as far as they are loaded. */
  readonly messages: KnownMessages
  /** externalIds that were looked up and stand for no message. */
  readonly missing: Set<string>
  /** The documents of some of them: of those that were needed, or written just now. */
  readonly documents: Map<string, MessageDocument>
}

export type Trace = { readonly is: 'absent'; readonly earlier: Earlier } | PresentTrace

/** What a message write needs of a trace: each message by externalId, with the digest that it would have. */
export type TraceNeed = ReadonlyMap<string, string>

/**
 * What is known of a message: null when the trace has none of that externalId, undefined when that has to be looked up.
 * Once as many messages are known as the trace has, any other is known not to exist.
 */
export const knownMessage = (state: PresentTrace, externalId: string): KnownMessage | null | undefined => {
  const known = state.messages.get(externalId)
  if (known !== undefined) return known
  const isMissing = state.messages.size === state.counts.messageCount || state.missing.has(externalId)
  return isMissing ? null : undefined
}

export const noCounts: Counts = {
  messageCount: 0,
  messageTypeCounts: { user_message: 0, agent_context: 0, agent_text: 0, agent_thinking: 0, tool_call: 0 },
  toolTypeCounts: {},
}

const present = (state: Trace): PresentTrace => {
  if (state.is === 'absent') throw new Error('the trace does not exist')
  return state
}

type Written = { externalId: string; message: KnownMessage; document: MessageDocument | undefined }

const withMessage = (state: PresentTrace, { externalId, message, document }: Written): Trace => {
  state.messages.set(externalId, message)
  state.missing.delete(externalId)
  state.documents.delete(externalId)
  if (document) state.documents.set(externalId, document)
  return { ...state, updatedAt: message.updatedAt }
}

const evolve = (state: Trace, event: TraceEvent, { at, actor }: EventContext): Trace => {
  switch (event.type) {
    case 'TraceCreated': {
      const { externalId, namespaceId, createdBy, ...fields } = event.data
      const { earlier } = state
      const origin = { externalId, namespaceId, createdBy, createdAt: at, updatedAt: at }
      const loaded = { messages: new KnownMessages(), missing: new Set<string>(), documents: new Map() }
      return { is: 'present', ...origin, fields: fields as TraceFields, counts: noCounts, earlier, ...loaded }
    }
    case 'TraceUpdated': {
      const fields = structuredClone(present(state).fields)
      jsonpatch.applyPatch(fields, event.data.patch as jsonpatch.Operation[])
      return { ...present(state), fields, updatedAt: at }
    }
    case 'MessageAdded': {
      const { externalId, ordinal, class: kind, tools, digest, ...document } = event.data
      const message = { ordinal, class: kind, tools, digest, createdAt: at, updatedAt: at }
      return withMessage(present(state), { externalId, message, document: document as MessageDocument })
    }
    case 'MessageUpdated': {
      const { externalId, ordinal, class: kind, tools, digest, patch } = event.data
      const { messages, documents } = present(state)
      const message = {
        ordinal,
        class: kind,
        tools,
        digest,
        createdAt: messages.get(externalId)?.createdAt ?? at,
        updatedAt: at,
      }
      const before = documents.get(externalId)
      return withMessage(present(state), { externalId, message, document: before && applyPatch(before, patch) })
    }
    case 'MessagesCounted':
      return { ...present(state), counts: event.data }
    case 'TraceSummarised':
      return { ...present(state), summary: event.data as NonNullable<PresentTrace['summary']> }
    case 'TraceDeleted':
      return { is: 'absent', earlier: endedBy(event.data, at, actor?.userId) }
  }
}

/** Within one append only the newest counts matter: they are totals. */
const condense = (events: readonly TraceEvent[]) => {
  const last = events.findLast(({ type }) => type === 'MessagesCounted')
  return events.filter((event) => event.type !== 'MessagesCounted' || event === last)
}

export const traces: StreamKind<Trace, TraceEvent> = {
  category: 'trace',
  events: TraceEvent,
  initial: () => ({ is: 'absent', earlier: NO_EARLIER }),
  evolve,
  weigh: weighTrace,
  condense,
}

type Decide = Decision<Trace, TraceEvent>

/** Fields as a client gives them: absent ones are left as they are. `modelName` comes from the registry. */
export type GivenFields = Partial<TraceFields>

const update = (state: PresentTrace, given: GivenFields): TraceEvent[] => {
  const after: Record<string, unknown> = { ...state.fields, ...given }
  if (given.model !== undefined && given.modelName === undefined) delete after.modelName
  return [{ type: 'TraceUpdated', data: { patch: jsonpatch.compare(state.fields, after) as never } }]
}

const shown = (given: GivenFields) => ({ visibility: 'private' as const, ...given })

/**
 * Creates the trace, or updates it after the write policy; without `visibility` it becomes private. An update is an
 * event also when nothing changes: it moves `updatedAt`.
 */
export const upsert =
  (writer: Member, origin: { externalId: string; namespaceId: string }, given: GivenFields): Decide =>
  (state, now, at) => {
    if (state.is === 'present') return replace(writer, given)(state, now, at)
    const created = { ...origin, createdBy: writer.userId, agentId: 'unknown', ...shown(given) }
    return [{ type: 'TraceCreated', data: created }]
  }

/** The same for a trace that exists. @throws Rejected not_found for one that does not */
export const replace = (writer: Member, given: GivenFields): Decide => patch(writer, shown(given))

/** Changes the given fields of a trace that exists; the rest stays, `visibility` too. */
export const patch =
  (writer: Member, given: GivenFields): Decide =>
  (state) => {
    if (state.is === 'absent') throw new Rejected('not_found', 'Not found')
    assertMayWrite(state, writer)
    return update(state, given)
  }

/** Deletes a trace. The event stands for itself: everything before it is erased. */
export const remove =
  (writer: Member): Decide =>
  (state) => {
    if (state.is === 'absent') throw new Rejected('not_found', 'Not found')
    assertMayWrite(state, writer)
    const { externalId, namespaceId, createdBy, createdAt, counts, earlier } = state
    const data = {
      externalId,
      namespaceId,
      createdBy,
      createdAt,
      messageCount: counts.messageCount,
      ...toldOf(earlier),
    }
    return [{ type: 'TraceDeleted', data }]
  }
