import { Rejected } from '../../../eventstore/engine/rejected.ts'
import type { DecisionWithResult } from '../../../eventstore/engine/stream.ts'
import { classOf, toolsOf } from './classify.ts'
import type { Counts, TraceNeed, TraceState } from '../state.ts'
import type { TraceEvent } from '../events.ts'
import type { MessageClass } from './message-class.ts'
import { type Room, UNLIMITED, assertFits } from '../../namespace/room.ts'
import { type Change, growthOf } from './growth.ts'
import { NO_PARTS } from './heads.ts'
import type { PartsOfUpsert, LoadedMessages, MessageHead, PartDigests } from './loaded.ts'
import { type MessageUpsert, isOfUsage, patchOf } from './message.ts'
import { type UserRole, assertMayWrite } from '../policy.ts'
import { newToolCounts } from './tool-counts.ts'

type UpsertResult = 'created' | 'updated' | 'unchanged'

/** The result of one upsert. It has no `patch` if it has created the message, or changed nothing. */
export type UpsertedMessage = Change & { readonly externalId: string; readonly result: UpsertResult }

/** Differs from the digest of any parts. */
const NO_DIGEST = '-'

/**
 * The need of a decision about these upserts: the heads of their messages, and for each upsert whose parts differ from the stored ones the digests
 * of as many stored parts.
 */
export const needOf = (upserts: readonly MessageUpsert[]): TraceNeed => {
  const need = new Map<string, PartsOfUpsert | undefined>()
  for (const { externalId, heads } of upserts) need.set(externalId, eitherOf(need.get(externalId), heads.parts))
  return need
}

/** The common need of two upserts of one message. If their parts differ from each other, those of at least one differ from the stored parts. */
export const eitherOf = (
  one: PartsOfUpsert | undefined,
  other: PartsOfUpsert | undefined,
): PartsOfUpsert | undefined => {
  if (!one || !other || one.digest === other.digest) return one ?? other
  return { count: Math.max(one.count, other.count), digest: NO_DIGEST }
}

/** How a message is counted. */
type Counted = Pick<MessageHead, 'class' | 'tools'>
type NewlyCounted = Counted & { readonly tools: string[] }

const isSame = (one: Counted, other: Counted) => one.class === other.class && one.tools.join() === other.tools.join()

/** The counts of a trace during a batch. */
const newTally = (counts: Counts) => {
  const types = { ...counts.messageTypeCounts }
  const tools = newToolCounts(counts.toolTypeCounts)
  let { messageCount } = counts
  let moved = false
  const count = (kind: MessageClass, names: readonly string[]): NewlyCounted => {
    types[kind] += 1
    return { class: kind, tools: names.map(tools.add) }
  }
  const takeBack = (before: Counted) => {
    types[before.class] -= 1
    for (const name of before.tools) tools.remove(name)
  }
  return {
    /** Counts a new message, and returns its number in the order of arrival. */
    add(kind: MessageClass, names: readonly string[]): NewlyCounted & { readonly ordinal: number } {
      moved = true
      return { ordinal: messageCount++, ...count(kind, names) }
    },
    /** Corrects the counts if the class or the tools of a message have changed. Without `names` its calls are unchanged. */
    correct(before: Counted, kind: MessageClass, names: readonly string[] | undefined): NewlyCounted {
      const same = { class: kind, tools: names ? names.map(tools.nameOf) : [...before.tools] }
      if (isSame(before, same)) return same
      takeBack(before)
      const after = count(kind, names ?? before.tools)
      moved ||= !isSame(before, after)
      return after
    },
    events: (): TraceEvent[] =>
      moved
        ? [{ type: 'MessagesCounted', data: { messageCount, messageTypeCounts: types, toolTypeCounts: tools.all() } }]
        : [],
  }
}

type Tally = ReturnType<typeof newTally>

/** A message before an upsert, with the digests of its parts if they are loaded. */
type KnownMessage = { readonly head: MessageHead; readonly digests: PartDigests | undefined }
/** The result and the event of one upsert; without an event if it changes nothing. */
type Outcome = Omit<UpsertedMessage, 'externalId'> & { readonly event?: TraceEvent }

const create = (tally: Tally, { externalId, given, heads }: MessageUpsert, at: number): Outcome => {
  const { parts = [], ...scalars } = given
  const { role, model, order, timestamp, usage } = scalars
  const shown = { role, text: heads.text, parts: heads.parts ?? NO_PARTS }
  const { ordinal, ...counted } = tally.add(classOf(shown), toolsOf(parts))
  const head = { ordinal, ...shown, model, order, timestamp, usage, ...counted, createdAt: at, updatedAt: at }
  return {
    result: 'created',
    head,
    event: { type: 'MessageAdded', data: { externalId, ordinal, ...scalars, ...counted, heads, parts } },
  }
}

/** The outcome of an upsert of an existing message. */
const change = (tally: Tally, { head: before, digests }: KnownMessage, upsert: MessageUpsert, at: number): Outcome => {
  const { externalId, given, heads } = upsert
  const patch = patchOf(before, digests, upsert)
  if (patch.length === 0) return { result: 'unchanged', head: before, before }
  const { textContent: _, parts: givenParts, ...fields } = given
  const changed = { ...before, ...fields, ...heads, updatedAt: isOfUsage(patch) ? before.updatedAt : at }
  const counted = tally.correct(before, classOf(changed), givenParts && toolsOf(givenParts))
  const { ordinal, parts } = changed
  const data = { externalId, ordinal, ...counted, ...(parts.digest === before.parts.digest ? {} : { parts }), patch }
  return { result: 'updated', head: { ...changed, ...counted }, before, patch, event: { type: 'MessageUpdated', data } }
}

/** A message before the batch; undefined if the trace does not have it. */
const loadedMessage = (loaded: LoadedMessages, externalId: string): KnownMessage | undefined => {
  const head = loaded.find(externalId)
  if (head === 'unknown') throw new Error(`message ${externalId} was not loaded`)
  return head === 'none' ? undefined : { head, digests: loaded.digestsOf(externalId) }
}

/**
 * Upserts messages in order, all or none: one event for each upsert that creates or changes a message, then one with the counts if
 * they changed. The same `externalId` twice is two upserts in order. The result has an entry for each upsert.
 * @throws Rejected not_found, forbidden; if they add more than there is room for, quota_exceeded or payload_too_large
 */
export const upsertMessages =
  (
    writer: UserRole,
    upserts: readonly MessageUpsert[],
    room: Room = UNLIMITED,
  ): DecisionWithResult<TraceState, TraceEvent, readonly UpsertedMessage[]> =>
  ({ trace, messages: loaded }, _now, at) => {
    if (trace.is === 'absent') throw new Rejected('not_found', 'Not found')
    assertMayWrite(trace, writer)
    const events: TraceEvent[] = []
    const result: UpsertedMessage[] = []
    /** Messages that earlier upserts of this batch have written. */
    const overlay = new Map<string, KnownMessage>()
    const tally = newTally(trace.counts)
    for (const upsert of upserts) {
      const { externalId } = upsert
      const before = overlay.get(externalId) ?? loadedMessage(loaded, externalId)
      const { event, ...message } = before ? change(tally, before, upsert, at) : create(tally, upsert, at)
      if (event) events.push(event)
      const digests = upsert.given.parts?.map(({ digest }) => digest) ?? before?.digests
      overlay.set(externalId, { head: message.head, digests })
      result.push({ externalId, ...message })
    }
    assertFits(room, growthOf(result))
    return { events: [...events, ...tally.events()], result }
  }
