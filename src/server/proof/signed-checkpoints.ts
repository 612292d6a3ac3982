import type { Client } from '../../eventstore/engine/checkpoint.ts'
import { signCheckpoint } from './checkpoint.ts'
import type { Signer } from './note.ts'
import { hasRoot, TreeDiffers } from './stored-tree.ts'
import type { GrowingTree, TreeHead } from './tree.ts'

/** The last checkpoint of a key; a row of `tracebook.audit_keys`. */
export type SignedCheckpoint = TreeHead & {
  readonly number: number
  /** The verifier form of the key. */
  readonly key: string
  /** The size of the first checkpoint that the key has signed. */
  readonly from: number
  readonly note: string
  /** Neither this key nor any other is in use now. */
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

/** All keys that have signed, the oldest first, each with its last checkpoint. */
const readHistory = async (client: Client): Promise<SignedCheckpoint[]> =>
  (await client.query<Row>({ name: 'audit-history', text: signedStatement })).rows.map(toSigned).reverse()

const isSame = (a: SignedCheckpoint, b: SignedCheckpoint | undefined): boolean =>
  b !== undefined &&
  a.number === b.number &&
  a.key === b.key &&
  a.from === b.from &&
  a.size === b.size &&
  a.note === b.note &&
  a.retired === b.retired &&
  a.root.equals(b.root)

const updateStatement = `
  update tracebook.audit_keys set size = $2, root = $3, note = $4, signed_at = $5
  where number = $1 and key = $6 and size <= $2 and not exists (select from tracebook.audit_keys where number > $1)
  returning 1`

const insertStatement = `
  insert into tracebook.audit_keys (number, key, from_size, size, root, note, signed_at)
  values ($1, $6, $2, $2, $3, $4, $5) returning 1`

type WriterOptions = {
  readonly client: Client
  readonly tree: GrowingTree
  /** Without a signer the last checkpoint is retired, so that it is not served any more. */
  readonly signer: Signer | undefined
  /** The last checkpoint that this process has signed, even if the database has lost it since. */
  readonly published: TreeHead | undefined
  /** All keys with their last checkpoints, as this process has left them; undefined if another process may have led since. */
  readonly known: readonly SignedCheckpoint[] | undefined
  /** The clock, in milliseconds. */
  readonly now: () => number
}

/** @throws TreeDiffers if the tree does not continue the last checkpoint */
const assertContinues = async ({ client, tree, published }: WriterOptions, stored: SignedCheckpoint | undefined) => {
  for (const head of [stored, published])
    if (head && !(await hasRoot(client, { size: tree.size() }, head)))
      throw new TreeDiffers(`the leaves do not lead to the signed checkpoint of size ${head.size}`)
}

/** @throws TreeDiffers if a checkpoint was inserted, changed or removed since this process has read them */
const assertUnchanged = async (client: Client, known: readonly SignedCheckpoint[]): Promise<void> => {
  const stored = await readHistory(client)
  const other = stored.find((one, i) => !isSame(one, known[i])) ?? known[stored.length]
  if (other)
    throw new TreeDiffers(
      `row ${other.number} of tracebook.audit_keys, with the key ${other.key}, was changed or removed, but not by the service`,
    )
}

const retire = async (client: Client, history: readonly SignedCheckpoint[]): Promise<SignedCheckpoint[]> => {
  const last = history.at(-1)
  if (!last) return []
  await client.query('update tracebook.audit_keys set retired = true where number = $1', [last.number])
  return [...history.slice(0, -1), { ...last, retired: true }]
}

/**
 * Signs the growing tree.
 * @throws TreeDiffers if the stored tree does not continue the signed one, or checkpoints are not as they are known
 */
export const openCheckpointWriter = async (options: WriterOptions) => {
  const { client, tree, signer, known, now } = options
  if (known) await assertUnchanged(client, known)
  let history: readonly SignedCheckpoint[] = known ?? (await readHistory(client))
  await assertContinues(options, history.at(-1))
  if (!signer) history = await retire(client, history)

  /** Signs the tree in the key's row, or in a new row if another key has signed last. */
  const sign = async (signer: Signer): Promise<SignedCheckpoint[]> => {
    const last = history.at(-1)
    const key = signer.verifier.text
    const mine = last?.key === key && !last.retired ? last : undefined
    const [size, root] = [tree.size(), tree.root()]
    if (mine?.size === size) return [...history]
    const note = signCheckpoint({ size, root }, signer)
    const number = mine?.number ?? (last?.number ?? 0) + 1
    const text = mine ? updateStatement : insertStatement
    const { rowCount } = await client.query(text, [number, size, root, note, now(), key])
    if (rowCount !== 1) throw new TreeDiffers('tracebook.audit_keys has a checkpoint that the service has not written')
    const before = mine ? history.slice(0, -1) : history
    return [...before, { number, key, from: mine?.from ?? size, size, root, note, retired: false }]
  }

  /**
   * Signs and stores a checkpoint of the tree, if it has grown since the last one. Returns all keys with their last checkpoints.
   * @throws TreeDiffers if another process has written to the stored checkpoints
   */
  const write = async () => {
    await assertUnchanged(client, history)
    if (signer) history = await sign(signer)
    return history
  }
  return { write }
}
