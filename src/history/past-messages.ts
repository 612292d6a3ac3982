import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import { BrokenOff, type Page } from '../http/long-list.ts'
import { int4s } from '../postgres/arrays.ts'
import { PAGE_WEIGHT, pageStatement } from '../trace/message-pages.ts'
import type { MessageListRow } from '../trace/message-queries.ts'
import { newPastDocuments } from './past-documents.ts'
import { type Keys, pastOrder } from './past-order.ts'
import type { PastTrace } from './past.ts'
import type { HistoryServices } from './services.ts'

const FIRST = 64
const FEWEST = 8
const MOST = 1_000

export type PastMessagesOptions = {
  readonly includeParts: boolean
  /** At most so many, from behind these keys on. Default: all. */
  readonly limit?: number | undefined
  readonly behind?: Keys | undefined
}

type PresentRow = MessageListRow & { readonly revision: bigint; readonly size: bigint }

/** Some messages as they are now, in the order asked for, as many as weigh little enough. @throws BrokenOff when their trace is gone */
const presentRows = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  { id, incarnation }: PastTrace,
  asked: Int32Array,
  includeParts: boolean,
): Promise<PresentRow[]> => {
  const name = `messages-page${includeParts ? '-parts' : ''}`
  const values = [id, incarnation, int4s([...asked]), PAGE_WEIGHT]
  const rows = await reads.rows<PresentRow & Row>(name, pageStatement({ includeParts }), values)
  if (rows.length === 0 || rows.some(({ ordinal }, i) => ordinal !== asked[i])) throw new BrokenOff('its trace is gone')
  return rows
}

/**
 * The messages of a trace as they were, in the order that they had then. Those that have not changed since are read from the
 * read models, the others are made from their events. Keeps some bytes for each message in memory, besides a page.
 * @throws BrokenOff when the trace is deleted meanwhile
 */
export async function* pastMessages(
  services: HistoryServices,
  past: PastTrace,
  { includeParts, limit, behind }: PastMessagesOptions,
): AsyncGenerator<Page<MessageListRow>, void> {
  const documents = newPastDocuments(services, past)
  const ordinals = await pastOrder(services, past, documents, { limit, behind })
  let count = FIRST
  for (let at = 0; at < ordinals.length;) {
    const present = await presentRows(services.reads, past, ordinals.subarray(at, at + count), includeParts)
    at += present.length
    count = Math.min(Math.max(2 * present.length, FEWEST), MOST)
    yield* asTheyWere(documents, past, present, includeParts)
  }
}

/** Replaces the rows that have changed since; a page ends where the next of them have to be read. */
async function* asTheyWere(
  documents: ReturnType<typeof newPastDocuments>,
  { revision }: PastTrace,
  present: readonly PresentRow[],
  includeParts: boolean,
): AsyncGenerator<Page<MessageListRow>, void> {
  const changed = present.filter((row) => row.revision > revision).map(({ ordinal }) => ordinal)
  let rows: MessageListRow[] = []
  let weight = 0
  let known: Awaited<ReturnType<typeof documents.rows>> = { rows: new Map(), weight: 0, read: 0 }
  for (let i = 0, next = 0; i < present.length; i++) {
    const row = present[i]!
    if (row.revision > revision && !known.rows.has(row.ordinal)) {
      if (rows.length > 0) yield { rows, weight }
      known = await documents.rows(changed.slice(next), includeParts)
      next += known.read
      rows = []
      weight = known.weight
    }
    if (row.revision <= revision) weight += Number(row.size)
    rows.push(row.revision > revision ? known.rows.get(row.ordinal)! : row)
  }
  if (rows.length > 0) yield { rows, weight }
}
