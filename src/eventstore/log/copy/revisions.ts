import { v5 } from 'uuid'
import { toRecords } from '../chunks.ts'
import { CopyRefused } from './comparison.ts'
import { type EventLog, type ExpectedRevision, type NewEvent, type RecordedEvent, revisionNumber } from '../log.ts'
import { metadataOf } from '../metadata.ts'
import { wholeAppends } from '../whole-appends.ts'

/** The most placeholders in one append. */
const BATCH = 1_000
/** The most placeholders before an event, more than the records that a trace may have: a file with a larger gap would only fill the disk. */
const MAX_GAP = 10_000_000n

/** A record of an append that is never finished: no reader sees it, but the stream's revision counts it. */
const placeholder = ({ id, metadata }: RecordedEvent, number: bigint): NewEvent => {
  const { at } = metadataOf({ id, metadata })
  const own = v5(`before ${number}`, id)
  return { id: own, type: 'Erased', data: '{}', metadata: JSON.stringify({ at, schema: 1, append: { id: own, index: 0, size: 2 } }) } // prettier-ignore
}

/**
 * Keeps the revisions of copied events. For each event that was erased, and each record that a crash had left, a placeholder is stored that
 * no reader sees. At the end of the copy the placeholders at the beginning of a stream are erased.
 */
export const newRevisionKeeper = (adapter: EventLog) => {
  /** By stream: the revision of its first event, if events before it were erased. */
  const begins = new Map<string, bigint | undefined>()

  /** Fills the stream up to the revision before the append, and returns that revision. */
  const place = async (end: ExpectedRevision, append: readonly RecordedEvent[]): Promise<ExpectedRevision> => {
    const [first] = append as [RecordedEvent]
    const wanted = first.revision - BigInt(toRecords(first, adapter.maxAppendBytes).length)
    let reached = end
    if (wanted - revisionNumber(end) > MAX_GAP)
      throw new CopyRefused(`more than ${MAX_GAP} records are missing before the next event of ${first.stream}`)
    while (revisionNumber(reached) < wanted) {
      const from = revisionNumber(reached) + 1n
      const size = Math.min(BATCH, Number(wanted - from) + 1)
      const records = Array.from({ length: size }, (_, i) => placeholder(first, from + BigInt(i)))
      reached = (await adapter.append(first.stream, reached, records)).revision
    }
    return reached
  }

  const note = (append: readonly RecordedEvent[]) => {
    const [{ stream, revision }] = append as [RecordedEvent]
    if (!begins.has(stream)) begins.set(stream, revision > 0n ? revision : undefined)
  }

  const erase = async () => {
    const to = wholeAppends(adapter)
    for (const [stream, revision] of begins) if (revision !== undefined) await to.truncate(stream, revision)
  }

  return { place, note, erase }
}
