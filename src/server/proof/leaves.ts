import type { Client, Step } from '../../eventstore/engine/checkpoint.ts'
import { advanceParameters, advanceStatement } from '../../eventstore/engine/process-checkpoint.ts'
import type { RecordedEvent } from '../../eventstore/log/log.ts'
import { hashes, int4s, int8s, texts, uuids } from '../../eventstore/postgres/arrays.ts'
import { PROCESS, type Reverification } from './stored-tree.ts'
import type { Subtree } from './tree.ts'

/** The hash of an event in the tree, and the event's position in the log. A row of `tracebook.leaves`. */
export type Leaf = Pick<RecordedEvent, 'id' | 'position' | 'stream' | 'revision'> & {
  readonly index: number
  readonly hash: Buffer
}

/** A leaf whose event was found in the log again, with its current position. */
export type FoundLeaf = Pick<Leaf, 'index' | 'position' | 'revision'>

/** The rows that a step of the process writes together with its checkpoint. */
export type Growth = {
  readonly step: Step
  readonly leaves: readonly Leaf[]
  readonly subtrees: readonly Subtree[]
  /** How many leaves the tree has afterwards. */
  readonly size: number
  readonly found?: readonly FoundLeaf[]
  /** The re-verification after this step; undefined if there is none, or it has ended. */
  readonly reverification?: Reverification | undefined
  /** A re-verification has ended: leaves from `from` to before `to` that were not found are of events that the log has lost. */
  readonly lost?: { readonly from: number; readonly to: number }
}

const moved = `moved as (${advanceStatement(PROCESS)})`
const ifMoved = 'where exists (select from moved)'

/** Stores the new leaves and subtrees, from parameters $6 to $14. */
const grown = `grown as (
    insert into tracebook.leaves (index, event_id, position, stream, revision, hash)
    select unnest($6::int8[]), unnest($7::uuid[]), unnest($8::int8[]), unnest($9::text[]), unnest($10::int8[]), unnest($11::bytea[]) ${ifMoved}
  ), risen as (
    insert into tracebook.subtrees (level, index, hash)
    select s.level::int2, s.index, s.hash from unnest($12::int4[], $13::int8[], $14::bytea[]) s(level, index, hash) ${ifMoved}
  )`

const growStatement = `
  with ${moved}, ${grown}
  update tracebook.tree set size = $15 ${ifMoved} returning size`

const reverifyStatement = `
  with ${moved}, ${grown}, found as (
    update tracebook.leaves l set position = f.position, revision = f.revision, lost = null
    from unnest($16::int8[], $17::int8[], $18::int8[]) f(index, position, revision)
    where l.index = f.index and exists (select from moved)
      and (l.position <> f.position or l.revision <> f.revision or l.lost is not null)
  ), lost as (
    update tracebook.leaves set lost = $3
    where index >= $19 and index < $20 and lost is null and exists (select from moved)
  )
  update tracebook.tree set size = $15, walk_size = $21, walk_until = $22, walk_matched = $23 ${ifMoved} returning size`

const leafColumns = (leaves: readonly Leaf[]) => [
  int8s(leaves.map(({ index }) => index)),
  uuids(leaves.map(({ id }) => id)),
  int8s(leaves.map(({ position }) => position)),
  texts(leaves.map(({ stream }) => stream)),
  int8s(leaves.map(({ revision }) => revision)),
  hashes(leaves.map(({ hash }) => hash)),
]

const subtreeColumns = (subtrees: readonly Subtree[]) => [
  int4s(subtrees.map(({ level }) => level)),
  int8s(subtrees.map(({ index }) => index)),
  hashes(subtrees.map(({ hash }) => hash)),
]

const reverificationColumns = ({ found = [], lost = { from: 0, to: 0 }, reverification }: Growth) => [
  int8s(found.map(({ index }) => index)),
  int8s(found.map(({ position }) => position)),
  int8s(found.map(({ revision }) => revision)),
  lost.from,
  lost.to,
  reverification?.size ?? null,
  reverification?.until ?? null,
  reverification?.matched ?? null,
]

/**
 * Stores what a step has added to the tree, with the process's checkpoint, in one statement. If another process has moved the
 * checkpoint, stores nothing and returns false.
 */
export const storeGrowth = async (client: Client, growth: Growth): Promise<boolean> => {
  const { step, leaves, subtrees, size } = growth
  const values = [...advanceParameters(step), ...leafColumns(leaves), ...subtreeColumns(subtrees), size]
  const isReverification = growth.reverification !== undefined || growth.lost !== undefined
  const { rowCount } = await client.query(
    isReverification
      ? { name: 'leaves-reverify', text: reverifyStatement, values: [...values, ...reverificationColumns(growth)] }
      : { name: 'leaves-grow', text: growStatement, values },
  )
  return rowCount === 1
}

/** A leaf that may be of the event with this id. */
export type Candidate = Pick<Leaf, 'id' | 'index' | 'hash'>

type CandidateRow = { id: string; index: bigint; hash: Buffer }

const candidatesStatement = `
  select event_id as id, index, hash from tracebook.leaves
  where event_id = any($1::uuid[]) and index < $2 and index > $3 order by index`

/** The leaves of events with these ids, before the end of the re-verification and after its last match, in their order. */
export const readCandidates = async (
  client: Client,
  ids: readonly string[],
  reverification: Reverification,
): Promise<Candidate[]> => {
  const values = [uuids(ids), reverification.size, reverification.matched]
  const { rows } = await client.query<CandidateRow>({ name: 'leaves-candidates', text: candidatesStatement, values })
  return rows.map(({ id, index, hash }) => ({ id, index: Number(index), hash }))
}
