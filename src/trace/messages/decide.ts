import { Rejected } from '../../engine/rejected.ts'
import type { DecisionWithResult } from '../../engine/stream.ts'
import { classOf, toolsOf } from './classify.ts'
import type { Counts, TraceNeed, TraceState } from '../decide.ts'
import type { PatchOperation } from '../../base/json/patch-operation.ts'
import type { MessageClass, TraceEvent } from '../events.ts'
import { NO_PARTS } from './heads.ts'
import type { GivenParts, LoadedMessages, MessageHead, PartDigests } from './loaded.ts'
import { type MessageUpsert, patchOf } from './message.ts'
import { type UserRole, assertMayWrite } from '../policy.ts'
import { newToolCounts } from './tool-counts.ts'

export type UpsertResult = 'created' | 'updated' | 'unchanged'

/** What became of one upsert: the head of the message as it stands after it. */
export type UpsertedMessage = {
  readonly externalId: string
  readonly result: UpsertResult
  readonly head: MessageHead
  /** How it was before; absent for a message that is new. */
  readonly before?: MessageHead
  /** What the upsert has changed; absent where it has created the message, or left it as it was. */
  readonly patch?: readonly PatchOperation[]
}

/** Differs from that of any parts. */
const NO_DIGEST = '-'

/** What has to be loaded to decide on these upserts: heads, and where the parts given differ, the digests of so many parts. */
export const needOf = (upserts: readonly MessageUpsert[]): TraceNeed => {
  const need = new Map<string, GivenParts | undefined>()
  for (const { externalId, heads } of upserts) need.set(externalId, eitherOf(need.get(externalId), heads.parts))
  return need
}

/** What two commands for one message need together: where they give different parts, one of them differs from what is stored. */
export const eitherOf = (one: GivenParts | undefined, other: GivenParts | undefined): GivenParts | undefined => {
  if (!one || !other || one.digest === other.digest) return one ?? other
  return { count: Math.max(one.count, other.count), digest: NO_DIGEST }
}

/** How a message is counted; as long as it is not stored, its names are a list that an event may take. */
type Counted = Pick<MessageHead, 'class' | 'tools'>
type NewlyCounted = Counted & { readonly tools: string[] }

const isSame = (one: Counted, other: Counted) => one.class === other.class && one.tools.join() === other.tools.join()

/** The counts of a trace, while messages are added and change. */
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
    /** Counts a new message; gives its place by arrival, too. */
    add(kind: MessageClass, names: readonly string[]): NewlyCounted & { readonly ordinal: number } {
      moved = true
      return { ordinal: messageCount++, ...count(kind, names) }
    },
    /** Counts a message anew where its class or its tools have changed; without `names` it has the calls that it had. */
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

/** A message as an upsert finds it; the digests of its parts where those are loaded. */
type Seen = { readonly head: MessageHead; readonly digests: PartDigests | undefined }
/** What one upsert comes to; without an event when it changes nothing. */
type Outcome = Omit<UpsertedMessage, 'externalId'> & { readonly event?: TraceEvent }

const create = (tally: Tally, { externalId, given, heads }: MessageUpsert, at: number): Outcome => {
  const { parts = [], ...scalars } = given
  const { textContent: _, ...fields } = scalars
  const shown = { ...fields, ...heads, parts: heads.parts ?? NO_PARTS }
  const { ordinal, ...counted } = tally.add(classOf(shown), toolsOf(parts))
  const head = { ordinal, ...shown, ...counted, createdAt: at, updatedAt: at }
  return {
    result: 'created',
    head,
    event: { type: 'MessageAdded', data: { externalId, ordinal, ...scalars, ...counted, heads, parts } },
  }
}

/** A message as it is after an upsert, and the event that says so; no event when it was like that before. */
const change = (tally: Tally, { head: before, digests }: Seen, upsert: MessageUpsert, at: number): Outcome => {
  const { externalId, given, heads } = upsert
  const patch = patchOf(before, digests, upsert)
  if (patch.length === 0) return { result: 'unchanged', head: before, before }
  const { textContent: _, parts: givenParts, ...fields } = given
  const changed = { ...before, ...fields, ...heads, updatedAt: at }
  const counted = tally.correct(before, classOf(changed), givenParts && toolsOf(givenParts))
  const { ordinal, parts } = changed
  const data = { externalId, ordinal, ...counted, ...(parts.digest === before.parts.digest ? {} : { parts }), patch }
  return { result: 'updated', head: { ...changed, ...counted }, before, patch, event: { type: 'MessageUpdated', data } }
}

/** A message as it is before the batch; undefined when the trace does not have it. */
const loadedMessage = (loaded: LoadedMessages, externalId: string): Seen | undefined => {
  const head = loaded.find(externalId)
  if (head === 'unknown') throw new Error(`message ${externalId} was not loaded`)
  return head === 'none' ? undefined : { head, digests: loaded.digestsOf(externalId) }
}

/**
 * Upserts messages in order, all or none: one event for each that is new or changed, then one with the counts when they
 * moved. The same externalId twice is two upserts in order. The result says what became of each.
 */
export const upsertMessages =
  (
    writer: UserRole,
    upserts: readonly MessageUpsert[],
  ): DecisionWithResult<TraceState, TraceEvent, readonly UpsertedMessage[]> =>
  ({ trace, messages: loaded }, _now, at) => {
    if (trace.is === 'absent') throw new Rejected('not_found', 'Not found')
    assertMayWrite(trace, writer)
    const events: TraceEvent[] = []
    const result: UpsertedMessage[] = []
    /** Messages as earlier upserts of this batch have left them. */
    const overlay = new Map<string, Seen>()
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
    return { events: [...events, ...tally.events()], result }
  }
