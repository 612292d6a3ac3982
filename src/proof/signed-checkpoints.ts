import type { Client } from '../engine/checkpoint.ts'
import { signCheckpoint } from './checkpoint.ts'
import type { Signer } from './note.ts'
import { hasRoot } from './stored-tree.ts'
import { TreeDiffers } from './tree-differs.ts'
import type { GrowingTree, TreeHead } from './tree.ts'

/** The last checkpoint of a key; a row of `tracebook.audit_keys`. */
export type SignedCheckpoint = TreeHead & {
  readonly number: number
  /** The verifier form of the key. */
  readonly key: string
  /** The size of the first checkpoint that the key has signed. */
  readonly from: number
  readonly note: string
  /** The key is not in use any more, and no other one is. */
  readonly retired: boolean
}

type Row = {
  number: number
  key: string
  from_size: bigint
  size: bigint
  root: Buffer
  note: string
  retired: boolean
}

const columns = 'number, key, from_size, size, root, note, retired'

export const toSigned = ({ from_size, size, ...row }: Row): SignedCheckpoint => ({
  ...row,
  from: Number(from_size),
  size: Number(size),
})

/** The keys that have signed, the newest first, each with its last checkpoint. */
export const signedStatement = `select ${columns} from tracebook.audit_keys order by number desc`
export type SignedRow = Row

const newest = async (client: Client): Promise<SignedCheckpoint | undefined> =>
  (await client.query<Row>(`${signedStatement} limit 1`)).rows.map(toSigned)[0]

const updateStatement = `
  update tracebook.audit_keys set size = $2, root = $3, note = $4, signed_at = $5
  where number = $1 and size <= $2`

const insertStatement = `
  insert into tracebook.audit_keys (number, key, from_size, size, root, note, signed_at)
  values ($1, $6, $2, $2, $3, $4, $5)`

/** Signs the tree as it grows. */
export type CheckpointWriter = {
  /** Signs and stores a checkpoint of the tree, if it has grown since the last one. Gives the last one. */
  write(): Promise<TreeHead | undefined>
}

export type WriterOptions = {
  readonly client: Client
  readonly tree: GrowingTree
  /** Without one the last checkpoint is retired, so that it is not served any more. */
  readonly signer: Signer | undefined
  /** The last checkpoint that this process has signed, whatever has become of the database since. */
  readonly published: TreeHead | undefined
  /** The clock, in milliseconds. */
  readonly now: () => number
}

/** @throws TreeDiffers when the tree does not continue the last checkpoint */
const assertContinues = async ({ client, tree, published }: WriterOptions, stored: SignedCheckpoint | undefined) => {
  for (const head of [stored, published])
    if (head && !(await hasRoot(client, { size: tree.size() }, head)))
      throw new TreeDiffers(`the leaves do not lead to the checkpoint of size ${head.size} that was signed`)
}

/** @throws TreeDiffers when the stored tree does not continue what was signed */
export const openCheckpointWriter = async (options: WriterOptions): Promise<CheckpointWriter> => {
  const { client, tree, signer, now } = options
  let last = await newest(client)
  await assertContinues(options, last)
  if (!signer) {
    if (last) await client.query('update tracebook.audit_keys set retired = true where number = $1', [last.number])
    return { write: async () => undefined }
  }
  const key = signer.verifier.text
  const write = async () => {
    const isSameKey = last !== undefined && last.key === key && !last.retired
    const size = tree.size()
    if (isSameKey && last!.size === size) return last
    const root = tree.root()
    const note = signCheckpoint({ size, root }, signer)
    const number = isSameKey ? last!.number : (last?.number ?? 0) + 1
    const values = [number, size, root, note, now()]
    await client.query(isSameKey ? updateStatement : insertStatement, isSameKey ? values : [...values, key])
    last = { number, key, from: isSameKey ? last!.from : size, size, root, note, retired: false }
    return last
  }
  return { write }
}
