import type pg from 'pg'
import { readProcessCheckpoint } from '../../../eventstore/engine/process-checkpoint.ts'
import { openCheckpoint } from '../checkpoint.ts'
import { parseVerifier } from '../note.ts'
import { type SignedCheckpoint, type SignedRow, signedStatement, toSigned } from '../signed-checkpoints.ts'
import { PROCESS, readStoredTree } from '../stored-tree.ts'
import { type Subtree, type TreeHead, TILE_WIDTH, newGrowingTree } from '../tree.ts'
import { bytesAt, copyRows, int8At } from './binary-rows.ts'
import type { Report } from './findings.ts'
import type { StoredLeaf } from './leaf-rows.ts'

/** The leaves cannot be compared with this log now. */
class CannotVerify extends Error {
  override readonly name = 'CannotVerify'
}

/** The figures that the database has of the tree at one moment. They may be wrong: the verification checks them. */
export type Claims = {
  readonly size: number
  /** The position up to which all appends have leaves. */
  readonly covered: bigint
  /** The last covered event. */
  readonly anchor: string | undefined
  /** The keys that have signed, the oldest first, each with its last checkpoint. */
  readonly signed: readonly SignedCheckpoint[]
}

/** @throws CannotVerify if there are no leaves of this log yet, or they are being verified again */
export const readClaims = async (client: pg.Client, logId: string): Promise<Claims> => {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    `select to_regclass('tracebook.tree') is not null as exists`,
  )
  if (!tables[0]!.exists)
    throw new CannotVerify('this database has no audit tree yet: start this version of the service')
  await client.query('begin isolation level repeatable read')
  try {
    const { size, log, reverification } = await readStoredTree(client)
    const { position, anchor } = await readProcessCheckpoint(client, PROCESS)
    const { rows } = await client.query<SignedRow>(signedStatement)
    if (log === undefined && size === 0) throw new CannotVerify('no leaves have been written yet: start the service')
    if (log !== logId)
      throw new CannotVerify('the leaves belong to another log: start the service, which verifies them with this one')
    if (reverification) throw new CannotVerify('the service is verifying the leaves again: wait until that has ended')
    return { size, covered: position, anchor: anchor?.id, signed: rows.map(toSigned).reverse() }
  } finally {
    await client.query('rollback')
  }
}

/** A root that the leaves must lead to. */
export type ExpectedRoot = TreeHead & { readonly report: (detail: string) => void }

/** Builds the tree from the leaves, and compares it with the stored and the signed one. */
export const newTreeCheck = (expected: readonly ExpectedRoot[], report: Report) => {
  const tree = newGrowingTree()
  const subtrees: Subtree[] = []
  const roots = [...expected].sort((a, b) => a.size - b.size)
  let gap: number | undefined
  let last: string | undefined

  const checkRoots = () => {
    while (roots[0] && roots[0].size <= tree.size()) {
      const { size, root, report: fail } = roots.shift()!
      if (!tree.root().equals(root)) fail(`the first ${size} leaves do not lead to it`)
    }
  }
  checkRoots() // of the empty tree

  const add = ({ index, id, hash, lost }: StoredLeaf) => {
    if (lost === undefined) last = id
    if (gap !== undefined) return
    if (index === tree.size()) {
      subtrees.push(...tree.add(hash))
      return checkRoots()
    }
    gap = tree.size()
    report({ kind: 'tree', leaf: gap, detail: `leaf ${gap} is missing` })
  }

  const finish = ({ size, anchor }: Claims): readonly Subtree[] => {
    for (const root of roots)
      root.report(gap === undefined ? `there are only ${tree.size()} leaves` : 'leaves are missing')
    if (gap === undefined && tree.size() !== size)
      report({ kind: 'tree', detail: `the tree has ${size} leaves, but ${tree.size()} are stored` })
    if (anchor !== undefined && anchor !== last)
      report({ kind: 'tree', detail: `the last covered event is ${anchor}, but the last leaf is of ${last}` })
    return subtrees
  }

  return { add, finish }
}

const keyOf = ({ level, index }: Pick<Subtree, 'level' | 'index'>) => `${level} ${index}`

/** Compares the stored roots of full tiles with those of the leaves below `size`. */
export const checkSubtrees = async (
  client: pg.Client,
  { built, size, report }: { readonly built: readonly Subtree[]; readonly size: number; readonly report: Report },
): Promise<void> => {
  const expected = new Map(built.map((subtree) => [keyOf(subtree), subtree.hash]))
  const wrong = (level: number, index: number, what: string) => {
    const from = index * TILE_WIDTH ** level
    report({
      kind: 'tree',
      detail: `hash ${index} of level ${level}, over leaves ${from} to ${from + TILE_WIDTH ** level - 1}, ${what}`,
    })
  }
  const query = 'select level::int8, index, hash from tracebook.subtrees order by level, index'
  const rows = copyRows<Subtree>(client, query, (row, add) =>
    add({ level: Number(int8At(row, 0)), index: Number(int8At(row, 1)), hash: bytesAt(row, 2) }),
  )
  const stored = (await Array.fromAsync(rows)).flat()
  const { size: now } = await readStoredTree(client) // leaves may have been written meanwhile
  for (const { level, index, hash } of stored) {
    const root = expected.get(keyOf({ level, index }))
    expected.delete(keyOf({ level, index }))
    const isLater = (index + 1) * TILE_WIDTH ** level > size && (index + 1) * TILE_WIDTH ** level <= now
    if (root === undefined ? !isLater : !root.equals(hash)) wrong(level, index, 'differs from that of its leaves')
  }
  for (const key of expected.keys()) {
    const [level, index] = key.split(' ').map(Number)
    wrong(level!, index!, 'is missing')
  }
}

/** Checks the checkpoints without the leaves, and returns the roots that the leaves must lead to. */
export const checkSigned = (signed: readonly SignedCheckpoint[], report: Report): ExpectedRoot[] =>
  signed.flatMap(({ number, key, from, size, root, note }, i) => {
    const fail = (detail: string) => report({ kind: 'checkpoint', detail: `of size ${size} by ${key}: ${detail}` })
    if (number !== i + 1) fail(`it has number ${number}, but ${i} come before it`)
    if (from > size || (i > 0 && from < signed[i - 1]!.size))
      fail(`its key cannot have signed from size ${from} on, as the table says`)
    try {
      const opened = openCheckpoint(note, parseVerifier(key))
      if (opened.size !== size || !opened.root.equals(root))
        fail('its text differs from the size and root that are stored with it')
      return [{ size: opened.size, root: opened.root, report: fail }]
    } catch (error) {
      fail((error as Error).message)
      return []
    }
  })
