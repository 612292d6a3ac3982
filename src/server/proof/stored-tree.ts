import type { Client } from '../../eventstore/engine/checkpoint.ts'
import { readProcessCheckpoint } from '../../eventstore/engine/process-checkpoint.ts'
import {
  type GrowingTree,
  type HashRange,
  type Span,
  type TreeHead,
  TILE_WIDTH,
  newGrowingTree,
  rangesOf,
  spanRoot,
  tailWidth,
} from './tree.ts'

/**
 * The stored tree contradicts itself, the log, or a signed checkpoint. The tree is not continued and no checkpoint is served
 * until an operator has repaired it: `tracebook audit verify` reports what is wrong.
 */
export class TreeDiffers extends Error {
  override readonly name = 'TreeDiffers'
}

/** The name of the process that writes the leaves, and of its checkpoint. */
export const PROCESS = 'proof'

/** A re-verification of the leaves from the beginning of the log, which is under way. */
export type Reverification = {
  /** How many leaves there were when it began. */
  readonly size: number
  /** The position where it ends. */
  readonly until: bigint
  /** The last leaf whose event was found; -1 for none. */
  readonly matched: number
}

/** The stored state of the tree without its hashes. */
export type StoredTree = {
  readonly size: number
  /** The id of the log in which the leaves have their positions. */
  readonly log: string | undefined
  readonly reverification: Reverification | undefined
  readonly refused: string | undefined
}

/** The columns `walk_…` hold the re-verification. */
type Row = {
  size: bigint
  log: string | null
  walk_size: bigint | null
  walk_until: bigint | null
  walk_matched: bigint | null
  refused: string | null
}

const columns = 'size, log, walk_size, walk_until, walk_matched, refused'

export const readStoredTree = async (client: Client): Promise<StoredTree> => {
  const [row] = (await client.query<Row>(`select ${columns} from tracebook.tree`)).rows
  if (!row) throw new TreeDiffers('the row of tracebook.tree is missing')
  const { size, log, walk_size, walk_until, walk_matched, refused } = row
  const reverification =
    walk_size === null ? undefined : { size: Number(walk_size), until: walk_until!, matched: Number(walk_matched) }
  return { size: Number(size), log: log ?? undefined, reverification, refused: refused ?? undefined }
}

/** Stores for all nodes why the tree is not continued; undefined if it is. */
export const writeRefusal = (client: Client, reason: string | undefined): Promise<unknown> =>
  client.query('update tracebook.tree set refused = $1 where refused is distinct from $1', [reason ?? null])

/** Runs a query with these values, and returns its rows. */
export type RunQuery = <Row extends Record<string, unknown>>(
  name: string,
  text: string,
  values: readonly unknown[],
) => Promise<Row[]>

export const runOn =
  (client: Client): RunQuery =>
  async <Row extends Record<string, unknown>>(name: string, text: string, values: readonly unknown[]) =>
    (await client.query<Row>({ name, text, values: [...values] })).rows

const hashesStatement = `
  select r.number::int4 as number, h.hash
  from unnest($1::int2[], $2::int8[], $3::int8[]) with ordinality r(level, first, last, number)
  cross join lateral (
    (select index, hash from tracebook.leaves where r.level = 0 and index >= r.first and index < r.last order by index)
    union all
    (select index, hash from tracebook.subtrees
     where r.level > 0 and level = r.level and index >= r.first and index < r.last order by index)
  ) h order by r.number, h.index`

/** The stored hashes of these ranges, in one query. @throws TreeDiffers if one is missing */
export const readHashes = async (run: RunQuery, ranges: readonly HashRange[]): Promise<Buffer[][]> => {
  const found: Buffer[][] = ranges.map(() => [])
  if (ranges.length === 0) return found
  const values = [ranges.map(({ level }) => level), ranges.map(({ from }) => from), ranges.map(({ to }) => to)]
  const rows = await run<{ number: number; hash: Buffer }>('tree-hashes', hashesStatement, values)
  for (const { number, hash } of rows) found[number - 1]!.push(hash)
  for (const [i, { level, from, to }] of ranges.entries())
    if (found[i]!.length !== to - from) throw new TreeDiffers(`hashes of level ${level}, ${from} to ${to}, are missing`)
  return found
}

/** The roots of these spans, from the stored hashes. @throws TreeDiffers if one is missing */
export const readRoots = async (run: RunQuery, spans: readonly Span[]): Promise<Buffer[]> => {
  const ranges = spans.map(rangesOf)
  const hashes = await readHashes(run, ranges.flat())
  let start = 0
  return ranges.map(({ length }) => spanRoot(hashes.slice(start, (start += length))))
}

/** The tree of the stored hashes, which can grow. @throws TreeDiffers */
export const readGrowingTree = async (client: Client, size: number): Promise<GrowingTree> => {
  const levels: HashRange[] = []
  for (let level = 0; TILE_WIDTH ** level <= size; level++) {
    const to = Math.floor(size / TILE_WIDTH ** level)
    levels.push({ level, from: to - tailWidth(level, size), to })
  }
  return newGrowingTree(size, await readHashes(runOn(client), levels))
}

/** Whether the stored tree has this root at this size. */
export const hasRoot = async (client: Client, tree: { readonly size: number }, head: TreeHead): Promise<boolean> => {
  if (head.size > tree.size) return false
  if (head.size === 0) return true
  const [root] = await readRoots(runOn(client), [{ from: 0, to: head.size }])
  return root!.equals(head.root)
}

type EndRow = { leaves: bigint | null; event_id: string | null }

const endStatement = `
  select (select max(index) from tracebook.leaves) as leaves,
    (select event_id from tracebook.leaves where lost is null order by index desc limit 1) as event_id`

/** Checks that the leaves end at the size of the tree and at the process's checkpoint. @throws TreeDiffers */
export const assertEndsWell = async (client: Client, { size, reverification }: StoredTree): Promise<void> => {
  const { leaves, event_id } = (await client.query<EndRow>(endStatement)).rows[0]!
  const count = Number(leaves ?? -1n) + 1
  if (count !== size) throw new TreeDiffers(`the tree has ${size} leaves, but ${count} are stored`)
  const { anchor } = await readProcessCheckpoint(client, PROCESS)
  if (!reverification && anchor && anchor.id !== event_id)
    throw new TreeDiffers(`the last covered event is ${anchor.id}, but the last leaf is of ${event_id}`)
}
