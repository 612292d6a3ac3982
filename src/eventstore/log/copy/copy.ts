import { createHash } from 'node:crypto'
import { CopyRefused, type CopySource, comparableText, newComparison } from './comparison.ts'
import { newRevisionKeeper } from './revisions.ts'
import { type EventLog, type ExpectedRevision, type NewEvent, type RecordedEvent, WrongRevision } from '../log.ts'
import { metadataOf } from '../metadata.ts'
import { wholeAppends } from '../whole-appends.ts'

export type CopyProgress = { readonly events: number; readonly position: bigint; readonly head: bigint }

type CopyOptions = CopyFromOptions & {
  /** The adapter, without `wholeAppends`. Its limit may differ from the target's. */
  readonly from: EventLog
}

type CopyFromOptions = {
  readonly from: CopySource
  /** The adapter, without `wholeAppends`. */
  readonly to: EventLog
  /** Keeps the revisions of events, even if earlier ones were erased. Default false. */
  readonly keepsRevisions?: boolean
  /** Ends the copy after the current append; another run continues from there. */
  readonly signal?: AbortSignal
  readonly progress?: (progress: CopyProgress) => void
  /** Called once for each stream in which events have other revisions than in the source. */
  readonly moved?: (stream: string) => void
}

export type CopyResult = {
  readonly events: number
  /** How many of them an earlier run had copied. */
  readonly before: number
  /** SHA-256 over the id, stream, type, metadata and data of each event, in the order of the log. */
  readonly digest: string
  /** False if it was stopped before the end; then the copy is not verified. */
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

/** Groups consecutive events by append. Erased ones are missing. */
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

/**
 * Events with the revision at which a restatement begins as a name for it. They get no earlier revision than in the source, so that what comes
 * before a restatement has lower ones than its name.
 */
const NAMES_REVISIONS: ReadonlySet<string> = new Set(['MessageRestated', 'HistoryErased'])

/** Writes appends to the target, each at the end of its stream, or with the revisions that it has in the source. */
const newTarget = (adapter: EventLog, keeper: ReturnType<typeof newRevisionKeeper>, keepsAll: boolean) => {
  const to = wholeAppends(adapter)
  const ends = new Map<string, ExpectedRevision>()
  let isFirst = true
  const write = async (append: readonly RecordedEvent[]) => {
    const { stream } = append[0]!
    // An interrupted run may have left segments of this append. They are not continued, because with another limit other slices
    // would get the same ids.
    const end = isFirst ? await endOf(adapter, stream) : (ends.get(stream) ?? 'none')
    isFirst = false
    const keeps = keepsAll || NAMES_REVISIONS.has(append[0]!.type)
    const expected = keeps ? await keeper.place(end, append) : end
    if (keeps && !keepsAll && end === 'none') keeper.note(append)
    const answer = await to.append(stream, expected, append.map(toNewEvent)).catch((error) => {
      throw error instanceof WrongRevision
        ? new CopyRefused(`another process writes to ${stream} of the target: stop it, and copy again`)
        : error
    })
    ends.set(stream, answer.revision)
  }
  return {
    write,
    has: ({ stream, revision }: RecordedEvent) => void ends.set(stream, revision),
    /** Whether an append that is in the target has the revisions of the source there. */
    keeps: ({ stream, revision }: RecordedEvent) => ends.get(stream) === revision,
  }
}

const verify = async (to: EventLog, count: number, expected: string) => {
  const digest = newDigest()
  for await (const event of to.readAll({ after: 0n })) digest.add(event)
  if (digest.count() !== count)
    throw new CopyRefused(
      `the target has ${digest.count()} events and the source had ${count}: stop all services of both, and copy again`,
    )
  if (digest.value() !== expected)
    throw new CopyRefused('the events in the target differ from those in the source: copy to an empty target')
}

/**
 * Copies a log to another one, of either kind: whole appends in log order, with the same ids, data and metadata. Another run continues an
 * interrupted one. At the end the whole target is read and compared. Revisions differ from those of the source if a stream was truncated (unless it
 * has an erased past), if the limits of the two logs split an append differently, or if a run was interrupted between two segments.
 * @throws CopyRefused if the target has anything but the beginning of this source
 */
export const copyLog = (options: CopyOptions): Promise<CopyResult> =>
  copyFrom({ ...options, from: wholeAppends(options.from) })

/** Copies events from any source to a log, as `copyLog` does. @throws CopyRefused */
export const copyFrom = async (options: CopyFromOptions): Promise<CopyResult> => {
  const { from, signal, progress, moved = () => {}, keepsRevisions = false } = options
  const to = wholeAppends(options.to)
  const head = await from.head()
  const digest = newDigest()
  const keeper = newRevisionKeeper(options.to)
  const target = newTarget(options.to, keeper, keepsRevisions)
  const comparison = newComparison(from, to, target.has)
  const others = new Set<string>()
  let before = 0
  for await (const append of appendsOf(from.readAll({ after: 0n }))) {
    if (signal?.aborted) return { events: digest.count(), before, digest: '', isComplete: false }
    const held: boolean[] = []
    for (const event of append) held.push(await comparison.holds(event))
    if (held.includes(true) && held.includes(false))
      throw new CopyRefused(`the target has only a part of an append: copy to an empty target`)
    if (held[0]) before += append.length
    else await target.write(append)
    for (const event of append) digest.add(event)
    const last = append.at(-1)!
    if (!target.keeps(last) && !others.has(last.stream)) {
      others.add(last.stream)
      moved(last.stream)
    }
    if (keepsRevisions) keeper.note(append)
    progress?.({ events: digest.count(), position: last.position, head })
  }
  await comparison.finish()
  await comparison.erase()
  await keeper.erase()
  const [events, expected] = [digest.count(), digest.value()]
  await verify(to, events, expected)
  return { events, before, digest: expected, isComplete: true }
}
