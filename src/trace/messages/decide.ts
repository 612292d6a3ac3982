import { Rejected } from '../../engine/rejected.ts'
import type { DecisionWithResult } from '../../engine/stream.ts'
import { classOf, toolsOf } from './classify.ts'
import type { Counts, TraceNeed, TraceState } from '../decide.ts'
import type { TraceEvent } from '../events.ts'
import type { KnownMessage, LoadedMessages } from './loaded.ts'
import { type MessageDocument, type MessageUpsert, difference, digestOf, merge } from './message.ts'
import { type UserRole, assertMayWrite } from '../policy.ts'
import { newToolCounts } from './tool-counts.ts'

export type UpsertResult = 'created' | 'updated' | 'unchanged'

/** What became of one upsert: the message as it stands after it. */
export type UpsertedMessage = {
  readonly externalId: string
  readonly result: UpsertResult
  readonly known: KnownMessage
  readonly document: MessageDocument
  /** What it changed; absent for a message that is new or was left as it is. */
  readonly before?: MessageDocument
}

/** Equal to the digest of no message. */
const NO_DIGEST = ''

/** What must be loaded to decide on these upserts: whole documents only where the digest will differ. */
export const needOf = (upserts: readonly MessageUpsert[]): TraceNeed => {
  const need = new Map<string, string>()
  for (const { externalId, digest } of upserts) {
    const isTwice = need.has(externalId) && need.get(externalId) !== digest
    need.set(externalId, isTwice ? NO_DIGEST : digest) // one of the two will differ, whatever is stored
  }
  return need
}

/** How a message is counted; as long as it is not stored, its names are a list that an event may take. */
type Counted = Pick<KnownMessage, 'class' | 'tools'>
type NewlyCounted = Counted & { readonly tools: string[] }

const isSame = (one: Counted, other: Counted) => one.class === other.class && one.tools.join() === other.tools.join()

/** The counts of a trace, while messages are added and change. */
const newTally = (counts: Counts) => {
  const types = { ...counts.messageTypeCounts }
  const tools = newToolCounts(counts.toolTypeCounts)
  let { messageCount } = counts
  let moved = false
  const count = (document: MessageDocument): NewlyCounted => {
    const kind = classOf(document)
    types[kind] += 1
    return { class: kind, tools: toolsOf(document).map(tools.add) }
  }
  const takeBack = (before: Counted) => {
    types[before.class] -= 1
    for (const name of before.tools) tools.remove(name)
  }
  return {
    /** Counts a new message; gives its place by arrival, too. */
    add(document: MessageDocument): NewlyCounted & { readonly ordinal: number } {
      moved = true
      return { ordinal: messageCount++, ...count(document) }
    },
    /** Counts a message anew where its class or its tools have changed. */
    correct(before: Counted, document: MessageDocument): NewlyCounted {
      const same = { class: classOf(document), tools: toolsOf(document).map(tools.nameOf) }
      if (isSame(before, same)) return same
      takeBack(before)
      const after = count(document)
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

/** A message as an upsert finds it; its document where that is loaded. */
type Seen = { readonly known: KnownMessage; readonly document: MessageDocument | undefined }
/** What one upsert comes to; without an event when it changes nothing. */
type Outcome = Omit<UpsertedMessage, 'externalId'> & { readonly event?: TraceEvent }

const create = (tally: Tally, { externalId, given, digest }: MessageUpsert, at: number): Outcome => {
  const document = merge(undefined, given)
  const { ordinal, ...counted } = { ...tally.add(document), digest }
  const { parts, ...head } = document
  const data = { externalId, ordinal, ...head, ...counted, parts }
  const known = { ordinal, ...counted, createdAt: at, updatedAt: at }
  return { result: 'created', known, document, event: { type: 'MessageAdded', data } }
}

/** A message as it is after an upsert, and the event that says so; no event when it was like that before. */
const change = (tally: Tally, { known, document: before }: Seen, upsert: MessageUpsert, at: number): Outcome => {
  if (known.digest === upsert.digest) return { result: 'unchanged', known, document: merge(undefined, upsert.given) }
  if (!before) throw new Error(`the document of message ${upsert.externalId} was not loaded`)
  const document = merge(before, upsert.given)
  const digest = digestOf(document)
  if (digest === known.digest) return { result: 'unchanged', known, document }
  const counted = { ...tally.correct(known, document), digest }
  const patch = difference(before, document)
  const data = {
    externalId: upsert.externalId,
    ordinal: known.ordinal,
    ...counted,
    partCount: document.parts.length,
    patch,
  }
  return {
    result: 'updated',
    known: { ...known, ...counted, updatedAt: at },
    document,
    before,
    event: { type: 'MessageUpdated', data },
  }
}

/** A message as it is before the batch; undefined when the trace does not have it. */
const loadedMessage = (loaded: LoadedMessages, externalId: string): Seen | undefined => {
  const known = loaded.find(externalId)
  if (known === 'unknown') throw new Error(`message ${externalId} was not loaded`)
  return known === 'none' ? undefined : { known, document: loaded.documentOf(externalId) }
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
      overlay.set(externalId, message)
      result.push({ externalId, ...message })
    }
    return { events: [...events, ...tally.events()], result }
  }
