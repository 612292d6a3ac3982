import { pipeline } from 'node:stream/promises'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { migrate } from '../../eventstore/postgres/migrate.ts'
import { closeConnection, newClient } from '../../eventstore/postgres/connect.ts'
import { hasRoot, readRoots, readStoredTree, runOn, TreeDiffers } from './stored-tree.ts'

/** The tables of the tree. The copied leaves belong to no log yet: `match-tree.ts` verifies them with theirs. */
const tables = ['leaves', 'subtrees', 'audit_keys'] as const

type Client = ReturnType<typeof newClient>

const open = async (url: string): Promise<Client> => {
  const client = newClient(url, 'audit')
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
 * Copies the audit tree of one database into another one that has none. It includes leaves of erased events, which no copy of the log
 * has, so that published checkpoints stay valid. Returns the number of leaves; 0 if the source has no tree.
 * @throws TreeDiffers if the target has another tree
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
    throw new TreeDiffers('the target has another audit tree: use an empty database')
  } finally {
    await Promise.all([closeConnection(from), closeConnection(to)])
  }
}
