import type { Row } from '../../eventstore/engine/reads.ts'
import { BrokenOff } from '../http/long-list.ts'
import { ALL_MESSAGES, BEFORE_ALL, type Keys, listOrdered } from '../trace/messages/queries.ts'
import type { PastDocuments } from './past-documents.ts'
import type { PastTrace } from './past.ts'
import type { HistoryServices } from './services.ts'
import { updatesBetween } from './updates.ts'

type PastOrderOptions = { readonly limit: number | undefined; readonly after: Keys | undefined }

type SnapshotRow = { revision: bigint; position: bigint }
type OrderRow = SnapshotRow & { ordinals: string | null }
type KeysRow = OrderRow & { orders: string | null; timestamps: string | null }

/**
 * SQL for the messages `listed` of the trace $1 in its incarnation $2, as one row: `joined` aggregates them, in the order of `listed`. The row also
 * has the revision of the trace and the checkpoint of the snapshot.
 */
export const snapshot = (joined: string, listed: string) => `
  select t.revision, c.position, l.* from traces t cross join reached c cross join lateral (
    select ${joined} from (${listed}) l
  ) l where t.id = $1 and t.incarnation = $2`

/** SQL for messages `m` that existed at that time; parameters $1 to $3. */
export const ofThen = 'm.trace_id = t.id and m.incarnation = t.incarnation and m.ordinal < $3'

const orderStatement = snapshot(
  `string_agg(l.ordinal::text, ',') as ordinals`,
  `select m.ordinal from messages m where ${ofThen} and (${listOrdered}) > ($4::float8, $5::float8, $6::int4)
   order by ${listOrdered} limit $7::int4`,
)

const keysStatement = snapshot(
  `string_agg(l.ordinal::text, ',') as ordinals, string_agg(l.sequence, ',') as orders,
   string_agg(l.timestamp, ',') as timestamps`,
  `select m.ordinal, coalesce(m.sequence, 'infinity'::float8)::text as sequence,
     coalesce(m.timestamp, 'infinity'::float8)::text as timestamp
   from messages m where ${ofThen} order by m.ordinal`,
)

const numbers = (joined: string | null) => joined?.split(',').map(Number) ?? []

/** From this many changes on, the first page computes the whole order and keeps it for the other pages. */
const MANY_CHANGES = 1_000

/** A part of a whole list of ordinals: at most `limit` after the message with these keys. */
const pageOf = (sortedOrdinals: Int32Array, { limit = ALL_MESSAGES, after }: PastOrderOptions): Int32Array => {
  const from = after ? sortedOrdinals.indexOf(after[2]) + 1 : 0
  return after && from === 0 ? new Int32Array() : sortedOrdinals.subarray(from, from + limit)
}

/**
 * The ordinals of the messages that a trace had, in their order at that time, at most `limit` of them. It is the current order, unless
 * messages have moved since: then their earlier keys are read from their events. If that is much work, the whole order is kept in
 * memory for the other pages.
 * @throws BrokenOff if the trace is gone
 */
export const pastOrder = async (
  services: HistoryServices,
  past: PastTrace,
  documents: PastDocuments,
  options: PastOrderOptions,
): Promise<Int32Array> => {
  const { sortedOrdinals: memo } = services.memo.of(past)
  const { limit = ALL_MESSAGES, after = BEFORE_ALL } = options
  const known = memo.get()
  if (known) return pageOf(known, options)
  const values = [...after, limit]
  const { row, since, moved } = await snapshotOf<OrderRow>(services, past, { name: 'past-order', text: orderStatement, values }) // prettier-ignore
  if (moved.length === 0 && (limit === ALL_MESSAGES || since.count < MANY_CHANGES))
    return Int32Array.from(numbers(row.ordinals))
  const sortedOrdinals = sorted(await pastKeys(services, past, documents))
  memo.set(sortedOrdinals)
  return pageOf(sortedOrdinals, options)
}

type Statement = { readonly name: string; readonly text: string; readonly values: readonly unknown[] }

/** The row of a `snapshot` statement, and which of the messages at that time have moved in the list since. @throws BrokenOff */
export const snapshotOf = async <Found extends SnapshotRow>(
  services: HistoryServices,
  past: PastTrace,
  { name, text, values }: Statement,
) => {
  const { reads, timeline } = services
  const [row] = await reads.rows<Found & Row>(name, text, [past.id, past.incarnation, past.messageCount, ...values])
  if (!row) throw new BrokenOff('the trace was deleted meanwhile')
  // All moves up to this snapshot have to be known.
  await timeline.caughtUp(row.position)
  const since = await updatesBetween(services, past, past.revision, row.revision)
  return { row, since, moved: since.moved().filter((ordinal) => ordinal < past.messageCount) }
}

/** The sort keys of messages at that time: the current ones, and for moved messages the earlier ones. @throws BrokenOff */
export const pastKeys = async (
  services: HistoryServices,
  past: PastTrace,
  documents: PastDocuments,
): Promise<AllKeys> => {
  const { row, moved } = await snapshotOf<KeysRow>(services, past, { name: 'past-keys', text: keysStatement, values: [] }) // prettier-ignore
  const keys = keysOf(row)
  await setKeys(documents, keys, moved)
  return keys
}

/** The keys of all messages of a trace, about 20 bytes for each. Ordinals ascend. */
type AllKeys = { readonly ordinals: Int32Array; readonly orders: Float64Array; readonly timestamps: Float64Array }

const keysOf = ({ ordinals, orders, timestamps }: KeysRow): AllKeys => ({
  ordinals: Int32Array.from(numbers(ordinals)),
  orders: Float64Array.from(numbers(orders)),
  timestamps: Float64Array.from(numbers(timestamps)),
})

const sorted = ({ ordinals, orders, timestamps }: AllKeys): Int32Array => {
  const compare = (a: number, b: number) =>
    compareNumbers(orders[a]!, orders[b]!) || compareNumbers(timestamps[a]!, timestamps[b]!) || a - b
  return Int32Array.from(ordinals.keys())
    .sort(compare)
    .map((index) => ordinals[index]!)
}

/** A subtraction would not do, because Infinity minus Infinity is NaN. */
const compareNumbers = (a: number, b: number) => Number(a > b) - Number(a < b)

const indexOf = (ordinals: Int32Array, ordinal: number): number => {
  let [low, high] = [0, ordinals.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ordinals[middle]! < ordinal) low = middle + 1
    else high = middle
  }
  return low
}

/** Sets the earlier keys of moved messages. */
const setKeys = async (
  documents: PastDocuments,
  { ordinals, orders, timestamps }: AllKeys,
  moved: readonly number[],
): Promise<void> => {
  for (let start = 0; start < moved.length;) {
    const { found, read } = await documents.documents(moved.slice(start, start + 1_000))
    for (const [ordinal, { document }] of found[0]!) {
      const index = indexOf(ordinals, ordinal)
      orders[index] = document.order ?? Infinity
      timestamps[index] = document.timestamp ?? Infinity
    }
    start += read
  }
}
