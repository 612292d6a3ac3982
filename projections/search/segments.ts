import type { ReadRows, Sender } from '../../src/engine/projection.ts'
import { createSegment, segmentName, segmentStart, segmentsStatement } from './tables.ts'

/** The newest segment, with about how many rows it has. */
type Newest = { readonly start: bigint; rows: number }

const known = new WeakMap<object, Newest>()

const newestOf = async ({ read, session }: Sender): Promise<Newest> => {
  const rows = await read<{ name: string }>('search-segments', segmentsStatement, [])
  const start = rows.map(({ name }) => segmentStart(name)).reduce((a, b) => (a > b ? a : b))
  const before = known.get(session)
  // A transaction that has begun a segment may have been rolled back, and another session may have begun one.
  if (before?.start === start) return before
  const newest = { start, rows: await countOf(read, start) }
  known.set(session, newest)
  return newest
}

const countOf = async (read: ReadRows, start: bigint): Promise<number> => {
  const [row] = await read<{ count: bigint }>('', `select count(*) from ${segmentName(start)}`, [])
  return Number(row!.count)
}

/** Ends a segment before a position, and begins the next one there; not if it has rows behind that, as when a stream is replayed. */
const cut = async ({ read, session }: Sender, { start }: Newest, at: bigint): Promise<void> => {
  const name = segmentName(start)
  const [row] = await read<{ last: bigint | null }>('', `select max(seq) as last from ${name}`, [])
  if (at <= start || (row!.last ?? 0n) >= at) return
  for (const statement of [
    `alter table search_docs detach partition ${name}`,
    `alter table search_docs attach partition ${name} for values from (${start}) to (${at})`,
    ...createSegment(at).trim().split(';').slice(0, -1),
  ])
    await read('', statement, [])
  known.set(session, { start: at, rows: 0 })
}

/** Before rows are inserted, so many, the first of them at a position: begins another segment when the newest has `most`. */
export const makeRoom = async (sender: Sender, first: bigint, count: number, most: number): Promise<void> => {
  const newest = await newestOf(sender)
  if (newest.rows >= most) await cut(sender, newest, first)
  known.get(sender.session)!.rows += count
}
