import { createHash } from 'node:crypto'
import { CopyRefused, essenceOf, newComparison } from './comparison.ts'
import { type EventLog, type ExpectedRevision, type NewEvent, type RecordedEvent, WrongRevision } from '../log.ts'
import { metadataOf } from '../metadata.ts'
import { wholeAppends } from '../whole-appends.ts'

export type CopyProgress = { readonly events: number; readonly position: bigint; readonly head: bigint }

export type CopyOptions = {
  /** The adapters alone; what one append may weigh in each may differ. */
  readonly from: EventLog
  readonly to: EventLog
  /** Ends the copy after the append under way; run again, it goes on from there. */
  readonly signal?: AbortSignal
  readonly progress?: (progress: CopyProgress) => void
}

export type Copied = {
  readonly events: number
  /** Events that an earlier run had copied. */
  readonly before: number
  /** SHA-256 over the id, stream, type, metadata and data of each event, in the order of the log. */
  readonly digest: string
  /** False when it was stopped before the end; nothing is verified then. */
  readonly isComplete: boolean
}

const newDigest = () => {
  const hash = createHash('sha256')
  let count = 0
  return {
    add: (event: RecordedEvent) => {
      count += 1
      hash.update(essenceOf(event)).update('\n')
    },
    count: () => count,
    value: () => hash.digest('hex'),
  }
}

/** The events of an append, as far as they have not been erased: they come one after the other. */
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

const plain = ({ id, type, data, metadata }: NewEvent): NewEvent => ({ id, type, data, metadata })

/** The revision of a stream, also of what a broken-off append has left there. */
const endOf = async (bare: EventLog, stream: string): Promise<ExpectedRevision> => {
  for await (const { revision } of bare.read(stream, { backwards: true, limit: 1 })) return revision
  return 'none'
}

/** Writes appends one by one, each behind the last of its stream. */
const newTarget = (bare: EventLog) => {
  const to = wholeAppends(bare)
  const ends = new Map<string, ExpectedRevision>()
  let isFirst = true
  const write = async (append: readonly RecordedEvent[]) => {
    const { stream } = append[0]!
    // A run that was broken off may have left segments of this very append. It is not continued: under another limit
    // other slices have the same ids.
    const expected = isFirst ? await endOf(bare, stream) : (ends.get(stream) ?? 'none')
    isFirst = false
    const answer = await to.append(stream, expected, append.map(plain)).catch((error) => {
      throw error instanceof WrongRevision ? new CopyRefused(`somebody else writes to ${stream}`) : error
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
 * Copies a log to another one, of either kind: whole appends in the order of the log, ids, data and metadata to the
 * letter. Revisions stay, where a stream was not truncated, no limit splits what the other did not, and no run was broken
 * off between two segments. The next run goes on there, and at the end all of the target is read again and compared.
 * @throws CopyRefused when the target holds anything but a part of this source
 * @throws LogUnavailable
 */
export const copyLog = async (options: CopyOptions): Promise<Copied> => {
  const { signal, progress } = options
  const [from, to] = [wholeAppends(options.from), wholeAppends(options.to)]
  const head = await from.head()
  const digest = newDigest()
  const target = newTarget(options.to)
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
    progress?.({ events: digest.count(), position: append.at(-1)!.position, head })
  }
  await comparison.rest()
  await comparison.erase()
  const [events, expected] = [digest.count(), digest.value()]
  await verify(to, events, expected)
  return { events, before, digest: expected, isComplete: true }
}
