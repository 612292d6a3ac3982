import { BrokenOff } from '../http/long-list.ts'
import { metadataOf } from '../../eventstore/log/metadata.ts'
import type { TraceEvent } from '../trace/events.ts'
import { type MessageDocument, applyPatch, isOfUsage } from '../trace/messages/message.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import { type TimedDocument, rowOf } from '../trace/messages/views.ts'
import { additions, allUpdates } from './message-revisions.ts'
import type { PastTrace } from './past.ts'
import type { HistoryServices } from './services.ts'
import type { Updates } from './updates.ts'

/** A message as it was. */
export type PastDocument = TimedDocument & {
  readonly document: MessageDocument
  /** The position of the event that has set the usage; of a restated message the append of the registry's event whose prices count. */
  readonly used?: bigint | string | undefined
}

/** How many messages are read together: at first, and at most. */
const FIRST_COUNT = 32
const MOST_COUNT = 1_000
/** About how many characters the events of messages that are read together may have. */
const WANTED_SIZE = 1024 * 1024

/** Applies an event of a message to the messages by ordinal. @throws BrokenOff if the message is missing */
const apply = (messages: Map<number, PastDocument>, { type, data }: TraceEvent, at: number, position: bigint) => {
  if (type === 'MessageAdded' || type === 'MessageRestated') {
    const { externalId, ordinal, role, textContent, model, order, timestamp, usage, parts } = data
    const document = { role, textContent, model, order, timestamp, usage, parts } as MessageDocument
    const times = type === 'MessageRestated' ? data : { createdAt: at, updatedAt: at }
    const used = type === 'MessageRestated' ? (data.priced ?? 0n) : position
    messages.set(ordinal, { externalId, document, createdAt: times.createdAt, updatedAt: times.updatedAt, used })
  } else if (type === 'MessageUpdated') {
    const before = messages.get(data.ordinal)
    if (!before) throw new BrokenOff('the trace was deleted meanwhile')
    const updatedAt = isOfUsage(data.patch) ? before.updatedAt : at
    const used = data.patch.some(({ path }) => path === '/usage') ? position : before.used
    messages.set(data.ordinal, { ...before, document: applyPatch(before.document, data.patch), updatedAt, used })
  }
}

/** The messages of one trace as they were, folded from their events as decisions fold them. */
export const newPastDocuments = (services: HistoryServices, past: PastTrace) => {
  const { log, codec } = services
  const stream = `trace-${past.id}`
  let updates: Promise<Updates> | undefined
  let many = FIRST_COUNT

  /**
   * Reads messages at revisions `steps`, in ascending order. Returns the messages at each of them.
   * @throws BrokenOff if an event is missing, because the trace is being erased
   */
  const read = async (ordinals: readonly number[], steps: readonly bigint[] = [past.revision]) => {
    updates ??= allUpdates(services, past)
    const [added, changes] = await Promise.all([additions(services, past, ordinals), updates])
    const changed = ordinals.flatMap((ordinal) => changes.of(ordinal))
    const revisions = [...added.keys(), ...changed].sort((a, b) => Number(a - b))
    const messages = new Map<number, PastDocument>()
    const found = steps.map(() => new Map<number, PastDocument>())
    let step = 0
    let count = 0
    let size = 0
    const endStep = () => {
      found[step] = new Map(messages)
      step += 1
    }
    for await (const event of log.readRevisions(stream, revisions)) {
      while (event.revision > steps[step]!) endStep()
      apply(messages, codec.decode(event) as TraceEvent, metadataOf(event).at, event.position)
      count += 1
      size += event.data.length
    }
    while (step < steps.length) endStep()
    if (count < revisions.length || messages.size < ordinals.length)
      throw new BrokenOff('the trace was deleted meanwhile')
    return { found, size }
  }

  /** The first of these messages, by ordinal, at each of `steps`: as many as may be read together. `read` says how many these are. */
  const documents = async (ordinals: readonly number[], steps?: readonly bigint[]) => {
    const some = ordinals.slice(0, many)
    const { found, size } = await read(some, steps)
    const each = Math.max(1, size / some.length)
    many = Math.max(1, Math.min(MOST_COUNT, 2 * some.length, Math.floor(WANTED_SIZE / each)))
    return { found, size, read: some.length }
  }

  /** The messages that `documents` returns, as rows of a list of messages. */
  const rows = async (ordinals: readonly number[], includeParts: boolean) => {
    const { found, size, read } = await documents(ordinals)
    const rows = new Map<number, MessageListRow>(
      [...found[0]!].map(([ordinal, one]) => [ordinal, { ...rowOf(past.id, one, includeParts), ordinal }]),
    )
    return { rows, size, read }
  }

  return { documents, rows }
}

export type PastDocuments = ReturnType<typeof newPastDocuments>
