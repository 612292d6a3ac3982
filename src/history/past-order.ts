import type { Row } from '../engine/reads.ts'
import { BrokenOff } from '../http/long-list.ts'
import { ALL_MESSAGES, listOrdered } from '../trace/message-queries.ts'
import type { PastDocuments } from './past-documents.ts'
import type { PastTrace } from './past.ts'
import type { HistoryServices } from './services.ts'
import { updatesBetween } from './updates.ts'

/** What messages are sorted by: order and timestamp, infinite where there is none, then arrival. */
export type Keys = readonly [order: number, timestamp: number, ordinal: number]

export type PastOrderOptions = { readonly limit: number | undefined; readonly behind: Keys | undefined }

const BEFORE_ALL: Keys = [-Infinity, -Infinity, -1]

type OrderRow = { revision: bigint; position: bigint; ordinals: string | null }
type KeysRow = OrderRow & { orders: string | null; timestamps: string | null }

// Rows are joined in the order in which the subquery gives them, as in the list of the present.
const snapshot = (joined: string, listed: string) => `
  select t.revision, c.position, l.* from traces t cross join reached c cross join lateral (
    select ${joined} from (${listed}) l
  ) l where t.id = $1 and t.incarnation = $2`

const ofThen = 'm.trace_id = t.id and m.incarnation = t.incarnation and m.ordinal < $3'

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

const compare = (a: Keys, b: Keys): number => {
  for (let i = 0; i < 2; i++) if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1
  return a[2] - b[2]
}

/**
 * The messages that a trace had, by their ordinals, in the order of then: behind some keys, at most so many. That is the order
 * of now, unless something has moved messages since: the keys that these had are read from their events.
 * @throws BrokenOff when the trace is gone
 */
export const pastOrder = async (
  services: HistoryServices,
  past: PastTrace,
  documents: PastDocuments,
  { limit = ALL_MESSAGES, behind = BEFORE_ALL }: PastOrderOptions,
): Promise<Int32Array> => {
  const { reads, timeline } = services
  const life = [past.id, past.incarnation, past.messageCount]

  const snapshotOf = async <Found extends OrderRow>(name: string, statement: string, values: readonly unknown[]) => {
    const [row] = await reads.rows<Found & Row>(name, statement, [...life, ...values])
    if (!row) throw new BrokenOff('its trace is gone')
    // What has moved up to this snapshot has to be known.
    await timeline.caughtUp(row.position)
    const since = await updatesBetween(services, past, past.revision, row.revision)
    return { row, moved: since.moved().filter((ordinal) => ordinal < past.messageCount) }
  }

  const { row, moved } = await snapshotOf<OrderRow>('past-order', orderStatement, [...behind, limit])
  if (moved.length === 0) return Int32Array.from(numbers(row.ordinals))
  const snapshot = await snapshotOf<KeysRow>('past-keys', keysStatement, [])
  const keys = keysOf(snapshot.row)
  await setKeys(documents, keys, snapshot.moved)
  const all = [...keys.values()].filter((one) => compare(one, behind) > 0).sort(compare)
  return Int32Array.from(all.slice(0, limit), ([, , ordinal]) => ordinal)
}

const keysOf = (row: KeysRow): Map<number, Keys> => {
  const [ordinals, orders, timestamps] = [row.ordinals, row.orders, row.timestamps].map(numbers)
  return new Map(ordinals!.map((ordinal, i) => [ordinal, [orders![i]!, timestamps![i]!, ordinal]]))
}

/** Gives messages the keys that they had. */
const setKeys = async (documents: PastDocuments, keys: Map<number, Keys>, moved: readonly number[]): Promise<void> => {
  for (let at = 0; at < moved.length;) {
    const { found, read } = await documents.documents(moved.slice(at, at + 1_000))
    for (const [ordinal, { document }] of found[0]!)
      keys.set(ordinal, [document.order ?? Infinity, document.timestamp ?? Infinity, ordinal])
    at += read
  }
}
