import { createHash } from 'node:crypto'
import { CopyRefused, type CopySource, comparableText, newComparison } from './comparison.ts'
import { newRevisionKeeper } from './revisions.ts'
import { type EventLog, type ExpectedRevision, type NewEvent, type RecordedEvent, WrongRevision } from '../log.ts'
import { metadataOf } from '../metadata.ts'
import { wholeAppends } from '../whole-appends.ts'

export type CopyProgress = { readonly events: number; readonly position: bigint; readonly head: bigint }

export type CopyOptions = CopyFromOptions & {
  /** The adapter, without `wholeAppends`; its limit may differ from that of the target. */
  readonly from: EventLog
}

export type CopyFromOptions = {
  readonly from: CopySource
  /** The adapter, without `wholeAppends`. */
  readonly to: EventLog
  /** Gives events the revisions that they had, also where what came before them was erased. Default false. */
  readonly keepsRevisions?: boolean
  /** Ends the copy after the current append; another run continues from there. */
  readonly signal?: AbortSignal
  readonly progress?: (progress: CopyProgress) => void
}

export type Copied = {
  readonly events: number
  /** How many of the events an earlier run had copied. */
  readonly before: number
  /** SHA-256 over the id, stream, type, metadata and data of each event, in the order of the log. */
  readonly digest: string
  /** False when it was stopped before the end; the copy was not verified then. */
  readonly isComplete: boolean
}

const newDigest = () => {
  const hash = createHash('sha256')
  let count = 0
  return {
    add: (event: RecordedEvent) => {
      count += 1
      hash.update(comparableText(event)).update('\n')
    },
    count: () => count,
    value: () => hash.digest('hex'),
  }
}

/** Groups events by append: they come one after the other; erased ones are missing. */
async function* appendsOf(events: AsyncIterable<RecordedEvent>) {
  let append: RecordedEvent[] = []
  for await (const event of events) {
    append.push(event)
    const { index, size } = metadataOf(event).append
    if (index < size - 1) continue
    yield append
    append = []
  }
}

const toNewEvent = ({ id, type, data, metadata }: NewEvent): NewEvent => ({ id, type, data, metadata })

/** The revision of a stream, including the records of an unfinished append. */
const endOf = async (adapter: EventLog, stream: string): Promise<ExpectedRevision> => {
  for await (const { revision } of adapter.read(stream, { backwards: true, limit: 1 })) return revision
  return 'none'
}

/** Writes appends to the target, each at the end of its stream, or where `place` makes room for it. */
const newTarget = (
  adapter: EventLog,
  place: (end: ExpectedRevision, append: readonly RecordedEvent[]) => Promise<ExpectedRevision>,
) => {
  const to = wholeAppends(adapter)
  const ends = new Map<string, ExpectedRevision>()
  let isFirst = true
  const write = async (append: readonly RecordedEvent[]) => {
    const { stream } = append[0]!
    // An interrupted run may have left segments of this append. They are not continued: with another limit other slices
    // would have the same ids.
    const end = isFirst ? await endOf(adapter, stream) : (ends.get(stream) ?? 'none')
    isFirst = false
    const expected = await place(end, append)
    const answer = await to.append(stream, expected, append.map(toNewEvent)).catch((error) => {
      throw error instanceof WrongRevision ? new CopyRefused(`another process writes to ${stream}`) : error
    })
    ends.set(stream, answer.revision)
  }
  return { write, has: ({ stream, revision }: RecordedEvent) => void ends.set(stream, revision) }
}

const verify = async (to: EventLog, count: number, expected: string) => {
  const digest = newDigest()
  for await (const event of to.readAll({ after: 0n })) digest.add(event)
  if (digest.count() !== count)
    throw new CopyRefused(`the target holds ${digest.count()} events, not ${count}: was the source written to?`)
  if (digest.value() !== expected) throw new CopyRefused('the target differs from the source')
}

/**
 * Copies a log to another one, of either kind: whole appends in log order, with the same ids, data and metadata. Revisions
 * are the same unless the stream was truncated, the two logs' limits split an append differently, or a run was interrupted
 * between two segments. Another run continues an interrupted one. At the end the whole target is read and compared.
 * @throws CopyRefused when the target holds anything but the beginning of this source
 * @throws LogUnavailable
 */
export const copyLog = (options: CopyOptions): Promise<Copied> =>
  copyFrom({ ...options, from: wholeAppends(options.from) })

/** The same from any source. */
export const copyFrom = async (options: CopyFromOptions): Promise<Copied> => {
  const { from, signal, progress, keepsRevisions = false } = options
  const to = wholeAppends(options.to)
  const head = await from.head()
  const digest = newDigest()
  const keeper = newRevisionKeeper(options.to)
  const target = newTarget(options.to, keepsRevisions ? keeper.place : (end) => Promise.resolve(end))
  const comparison = newComparison(from, to, target.has)
  let before = 0
  for await (const append of appendsOf(from.readAll({ after: 0n }))) {
    if (signal?.aborted) return { events: digest.count(), before, digest: '', isComplete: false }
    const held: boolean[] = []
    for (const event of append) held.push(await comparison.holds(event))
    if (held.includes(true) && held.includes(false)) throw new CopyRefused(`the target holds a part of an append`)
    if (held[0]) before += append.length
    else await target.write(append)
    for (const event of append) digest.add(event)
    if (keepsRevisions) keeper.note(append)
    progress?.({ events: digest.count(), position: append.at(-1)!.position, head })
  }
  await comparison.finish()
  await comparison.erase()
  await keeper.erase()
  const [events, expected] = [digest.count(), digest.value()]
  await verify(to, events, expected)
  return { events, before, digest: expected, isComplete: true }
}
