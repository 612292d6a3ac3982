import type pg from 'pg'
import { metadataOf } from '../metadata.ts'
import type { Position } from '../log.ts'
import { headAt } from './rows.ts'

type Client = Pick<pg.ClientBase, 'query'>

/** The last position of the log, 0n for an empty one. */
export const readHead = async (client: Client): Promise<Position> =>
  (await client.query<{ head: bigint }>('select coalesce(max(last), 0) as head from log.appends')).rows[0]!.head

type Row = { readonly last: Position; readonly id: string; readonly heads: string }

/** The events that are stored in the first row behind a position: where they end, and when the first of them was recorded, in milliseconds. */
type NextEvents = { readonly last: Position; readonly at: number }

/** Undefined behind the last event. */
export const readNextEvents = async (client: Client, after: Position): Promise<NextEvents | undefined> => {
  const text = 'select last, ids[1] as id, heads from log.appends where last > $1 order by last limit 1'
  const [row] = (await client.query<Row>({ name: 'log-next-events', text, values: [after] })).rows
  return row && { last: row.last, at: metadataOf({ id: row.id, ...headAt(row.heads, 0) }).at }
}

/**
 * The position up to which events were recorded before a time. It looks at as many rows as the number `head` has bits. Of events whose clocks
 * differed, some may lie on the other side.
 */
export const readPositionAt = async (client: Client, at: number, head: Position): Promise<Position> => {
  let [low, high] = [0n, head]
  while (low < high) {
    const middle = (low + high) / 2n
    const next = await readNextEvents(client, middle)
    if (next && next.at < at) low = next.last
    else high = middle
  }
  return low
}
