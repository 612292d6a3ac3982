import { closesAppend, fromRecords, opensAppend } from './chunks.ts'
import type { EventLog, RecordedEvent, StoredRecord } from './log.ts'
import { metadataOf } from './metadata.ts'

/** Whether `next` belongs to the same append as `record`. A record that opens an append begins another one, even with the same id: a retry after a crash. */
export const continuesAppend = (record: StoredRecord, next: StoredRecord): boolean =>
  next.stream === record.stream &&
  next.revision === record.revision + 1n &&
  metadataOf(next).append.id === metadataOf(record).append.id &&
  !opensAppend(next)

/** Collects the records of one append until its last record comes. */
const newRecordsOfAppend = () => {
  let records: StoredRecord[] = []
  /**
   * Adds a record. If it is the last one of its append, returns the records of the append. The first records are missing if the reading of the
   * log began in the middle of the append.
   */
  return (record: StoredRecord): StoredRecord[] | undefined => {
    const last = records.at(-1)
    if (last && !continuesAppend(last, record)) records = []
    records.push(record)
    if (!closesAppend(record)) return undefined
    const taken = records
    records = []
    return taken
  }
}

/** Reads all records of the append that ends with `last`, in order. Erased records are missing. */
const readAppendEndingAt = async (store: EventLog<StoredRecord>, last: StoredRecord): Promise<StoredRecord[]> => {
  const found = [last]
  if (last.revision === 0n) return found
  for await (const record of store.read(last.stream, { from: last.revision - 1n, backwards: true })) {
    if (!continuesAppend(record, found.at(-1)!)) break
    found.push(record)
    if (opensAppend(record)) break
  }
  return found.reverse()
}

const NOTHING: readonly RecordedEvent[] = []

/**
 * Returns a function that takes the records of a store one after another, in the order of the log or of a stream. It returns the events of an
 * append when it gets the last record of the append, and nothing before.
 */
export const newAppendCollector = (store: EventLog<StoredRecord>) => {
  const add = newRecordsOfAppend()
  /** Returns a promise only if the beginning of the append has to be read from the log. */
  return (record: StoredRecord): readonly RecordedEvent[] | Promise<readonly RecordedEvent[]> => {
    const taken = add(record)
    if (!taken) return NOTHING
    return opensAppend(taken[0]!) ? fromRecords(taken) : readAppendEndingAt(store, record).then(fromRecords)
  }
}

/** Whether all records of the append that `record` belongs to have been written. */
export const isComplete = async (store: EventLog<StoredRecord>, record: StoredRecord): Promise<boolean> => {
  if (closesAppend(record)) return true
  let last = record
  for await (const next of store.read(record.stream, { from: record.revision + 1n })) {
    if (!continuesAppend(last, next)) return false
    if (closesAppend(next)) return true
    last = next
  }
  return false
}
