import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { BrokenOff, type Chunk } from '../http/long-list.ts'
import { int4s } from '../../eventstore/postgres/arrays.ts'
import { readChunk } from '../trace/messages/chunks.ts'
import type { Keys, MessageListRow } from '../trace/messages/queries.ts'
import { type PastDocuments, newPastDocuments } from './past-documents.ts'
import { pastOrder } from './past-order.ts'
import type { PastTrace } from './past.ts'
import type { HistoryServices } from './services.ts'

/** How many messages are checked for changes together. */
const WINDOW = 1_000
/** How many unchanged messages the first statement reads, and the fewest that a later one reads, whose number depends on their size. */
const FIRST = 64
const FEWEST = 8

export type PastMessagesOptions = {
  readonly includeParts: boolean
  /** The maximum number of messages. Default: all. */
  readonly limit?: number | undefined
  /** Only messages after the one with these keys. */
  readonly after?: Keys | undefined
}

type PastReads = Pick<Reads<ReadTables>, 'rows'>

/** Messages by ordinal, and about how many characters they have. */
type Found = { readonly rows: ReadonlyMap<number, MessageListRow>; readonly size: number }

const NOTHING: Found = { rows: new Map(), size: 0 }

type ChangedRow = { found: number; changed: string | null }

const changedStatement = `
  select count(*)::int4 as found, string_agg(m.ordinal::text, ',') filter (where m.revision > $4) as changed
  from unnest($3::int4[]) k (ordinal) cross join lateral (
    select ordinal, revision from messages r where r.trace_id = $1 and r.incarnation = $2 and r.ordinal = k.ordinal limit 1
  ) m`

/** Which of these messages have changed since. @throws BrokenOff if the trace is gone */
const changedSince = async (reads: PastReads, past: PastTrace, ordinals: Int32Array): Promise<Set<number>> => {
  const values = [past.id, past.incarnation, int4s([...ordinals]), past.revision]
  const [row] = await reads.rows<ChangedRow & Row>('past-changed', changedStatement, values)
  if (row!.found < ordinals.length) throw new BrokenOff('the trace was deleted meanwhile')
  return new Set(row!.changed?.split(',').map(Number))
}

/** Reads messages as they were, some at a time: unchanged ones from their rows, the others from their events. */
const newReader = (reads: PastReads, documents: PastDocuments, past: PastTrace, includeParts: boolean) => {
  let count = FIRST

  const unchanged = async (asked: readonly number[], changed: Set<number>): Promise<Found> => {
    const present = await readChunk(reads, past, asked.slice(0, count), includeParts)
    count = Math.min(Math.max(2 * present.length, FEWEST), WINDOW)
    const rows = new Map<number, MessageListRow>()
    let size = 0
    for (const row of present) {
      if (row.revision > past.revision) changed.add(row.ordinal)
      else rows.set(row.ordinal, row)
      size += Number(row.size)
    }
    return { rows, size }
  }

  return { unchanged, changed: (asked: readonly number[]): Promise<Found> => documents.rows(asked, includeParts) }
}

/** Messages in the given order, as chunks. A chunk ends where more messages have to be read. */
async function* windowChunks(
  reader: ReturnType<typeof newReader>,
  ordinals: Int32Array,
  changed: Set<number>,
): AsyncGenerator<Chunk<MessageListRow>, void> {
  const isChanged = (ordinal: number) => changed.has(ordinal)
  let found = { changed: NOTHING, unchanged: NOTHING }
  let rows: MessageListRow[] = []
  for (let i = 0; i < ordinals.length;) {
    const ordinal = ordinals[i]!
    const row = (isChanged(ordinal) ? found.changed : found.unchanged).rows.get(ordinal)
    if (row) {
      rows.push(row)
      i += 1
      continue
    }
    if (rows.length > 0) yield { rows, size: found.changed.size + found.unchanged.size }
    rows = []
    const rest = [...ordinals.subarray(i)]
    if (isChanged(ordinal)) found = { ...found, changed: await reader.changed(rest.filter(isChanged)) }
    else {
      const unchanged = await reader.unchanged(
        rest.filter((one) => !isChanged(one)),
        changed,
      )
      found = { ...found, unchanged }
    }
  }
  if (rows.length > 0) yield { rows, size: found.changed.size + found.unchanged.size }
}

/** About how many characters of memory the order of a trace's messages takes while it is computed. */
export const orderSize = ({ messageCount }: Pick<PastTrace, 'messageCount'>): number => 40 * messageCount

/**
 * The messages of a trace as they were, in their order at that time, chunk by chunk. Takes some bytes of memory for each message,
 * besides a chunk. @throws BrokenOff if the trace is deleted meanwhile, Unavailable
 */
export async function* pastMessages(
  services: HistoryServices,
  past: PastTrace,
  { includeParts, limit, after }: PastMessagesOptions,
): AsyncGenerator<Chunk<MessageListRow>, void> {
  const { reads } = services
  const documents = newPastDocuments(services, past)
  const ordinals = await pastOrder(services, past, documents, { limit, after })
  const reader = newReader(reads, documents, past, includeParts)
  for (let start = 0; start < ordinals.length; start += WINDOW) {
    const window = ordinals.subarray(start, start + WINDOW)
    yield* windowChunks(reader, window, await changedSince(reads, past, window))
  }
}
