import { pipeline } from 'node:stream/promises'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { migrate } from '../postgres/migrate.ts'
import { closeConnection, newClient } from '../postgres/connect.ts'
import { hasRoot, readRoots, readStoredTree, runOn } from './stored-tree.ts'
import { TreeDiffers } from './tree-differs.ts'

/** All that stands for the tree. No log is noted for the copied leaves: they are matched with theirs (`match-tree.ts`). */
const tables = ['leaves', 'subtrees', 'audit_keys'] as const

type Client = ReturnType<typeof newClient>

const open = async (url: string): Promise<Client> => {
  const client = newClient(url, 'audit')
  client.on('error', () => {})
  await client.connect()
  return client
}

const copyAll = async (from: Client, to: Client) => {
  await from.query('begin isolation level repeatable read')
  await to.query('begin')
  for (const table of tables)
    await pipeline(
      from.query(copyTo(`copy tracebook.${table} to stdout (format binary)`)),
      to.query(copyFrom(`copy tracebook.${table} from stdin (format binary)`)),
    )
  const { size } = await readStoredTree(from)
  await to.query('update tracebook.tree set size = $1, log = null', [size])
  await to.query('commit')
  await from.query('rollback')
  return size
}

/** Whether the target's tree begins with that of the source. */
const continues = async (from: Client, to: Client, size: number): Promise<boolean> => {
  const [root] = await readRoots(runOn(from), [{ from: 0, to: size }])
  return hasRoot(to, await readStoredTree(to), { size, root: root! })
}

/**
 * Copies the audit tree of one database into another one that has none: with the leaves of what was erased, which no copy of
 * the log holds, so that published checkpoints stay valid. Gives the number of leaves; 0 when the source has no tree.
 * @throws TreeDiffers when the target has another tree
 */
export const copyTree = async (source: string, target: string): Promise<number> => {
  await migrate(source)
  await migrate(target)
  const [from, to] = [await open(source), await open(target)]
  try {
    const [{ size }, present] = [await readStoredTree(from), await readStoredTree(to)]
    if (size === 0) return 0
    if (present.size === 0) return await copyAll(from, to)
    if (await continues(from, to, size)) return size
    throw new TreeDiffers('the target has another audit tree: its database must be empty')
  } finally {
    await Promise.all([closeConnection(from), closeConnection(to)])
  }
}
