import { closes, fromRecords, opens } from './chunks.ts'
import type { EventLog, RecordedEvent } from './log.ts'
import { metadataOf } from './metadata.ts'

/** Whether `next` goes on with the append that `record` belongs to. A crash may leave one unfinished before its retry. */
export const goesOn = (record: RecordedEvent, next: RecordedEvent): boolean =>
  next.stream === record.stream &&
  next.revision === record.revision + 1n &&
  metadataOf(next).append.id === metadataOf(record).append.id &&
  !opens(next)

/** Collects the records of one append while they arrive one after the other. */
const newGroup = () => {
  let records: RecordedEvent[] = []
  /** The records of the append that this one closes, as far as they have arrived; nothing while it is open. */
  return (record: RecordedEvent): RecordedEvent[] | undefined => {
    const last = records.at(-1)
    if (last && !goesOn(last, record)) records = []
    records.push(record)
    if (!closes(record)) return undefined
    const taken = records
    records = []
    return taken
  }
}

/** All records of the append that `last` closes, in order, as far as they have not been erased. */
const wholeEndingAt = async (store: EventLog, last: RecordedEvent): Promise<RecordedEvent[]> => {
  const found = [last]
  if (last.revision === 0n) return found
  for await (const record of store.read(last.stream, { from: last.revision - 1n, backwards: true })) {
    if (!goesOn(record, found.at(-1)!)) break
    found.push(record)
    if (opens(record)) break
  }
  return found.reverse()
}

const NOTHING: readonly RecordedEvent[] = []

/** Takes records in the order of the log or of a stream, gives the events of each append when its last record comes. */
export const newCollector = (store: EventLog) => {
  const group = newGroup()
  /** Nearly always at once; a promise only where the beginning of an append has to be read again. */
  return (record: RecordedEvent): readonly RecordedEvent[] | Promise<readonly RecordedEvent[]> => {
    const taken = group(record)
    if (!taken) return NOTHING
    return opens(taken[0]!) ? fromRecords(taken) : wholeEndingAt(store, record).then(fromRecords)
  }
}

/** Whether the append that `record` belongs to was written to its end. */
export const isWhole = async (store: EventLog, record: RecordedEvent): Promise<boolean> => {
  if (closes(record)) return true
  let last = record
  for await (const next of store.read(record.stream, { from: record.revision + 1n })) {
    if (!goesOn(last, next)) return false
    if (closes(next)) return true
    last = next
  }
  return false
}
