import type pg from 'pg'
import type { Leaf } from '../leaves.ts'
import { type BinaryRow, bytesAt, copyRows, int8At, textAt, uuidAt } from './binary-rows.ts'

/** A stored leaf; `lost` is the epoch in which its event was found to be lost. */
export type StoredLeaf = Leaf & { readonly lost: string | undefined }

const columns = `index, event_id, position, stream, revision, hash, coalesce(lost::text, '')`

const toLeaf = (row: BinaryRow): StoredLeaf => ({
  index: Number(int8At(row, 0)),
  id: uuidAt(row, 1),
  position: int8At(row, 2),
  stream: textAt(row, 3),
  revision: int8At(row, 4),
  hash: bytesAt(row, 5),
  lost: textAt(row, 6) || undefined,
})

const CHUNK = 100_000

const leavesOf = (client: pg.Client, rest: string) =>
  copyRows<StoredLeaf>(client, `select ${columns} from tracebook.leaves ${rest}`, (row, add) => add(toLeaf(row)))

/** All leaves below an index, in their order. */
export async function* readLeaves(client: pg.Client, size: number): AsyncGenerator<readonly StoredLeaf[]> {
  for (let from = 0; from < size; from += CHUNK) {
    const to = Math.min(from + CHUNK, size)
    yield* leavesOf(client, `where index >= ${from} and index < ${to} order by index`)
  }
}

/** The leaves of these streams, stream by stream. */
export const readLeavesOfStreams = (client: pg.Client, streams: readonly string[], size: number) => {
  const names = streams.map((stream) => client.escapeLiteral(stream)).join(', ')
  return leavesOf(client, `where stream in (${names}) and index < ${size} order by stream, index`)
}

/** The leaves of an event. */
export const findLeaves = async (client: pg.Client, id: string, size: number): Promise<StoredLeaf[]> => {
  const where = `where event_id = ${client.escapeLiteral(id)} and index < ${size} order by index`
  return (await Array.fromAsync(leavesOf(client, where))).flat()
}
