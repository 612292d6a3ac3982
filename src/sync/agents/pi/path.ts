import { newHashedMap, type SavedMap } from '../support/hashed-map.ts'
import type { Json } from '../support/json.ts'
import { NeedsWhole } from '../support/line-parser.ts'

const NONE = -1

/** A path as plain JSON: the ids of all entries, and of the last one. */
export type SavedPath = { readonly known: SavedMap; readonly last?: string | undefined; readonly isEmpty: boolean }

/** Gets the entries one by one, and says which lines are on the path from the root to the last entry (README, rule 2). */
export type Path = {
  readonly add: (entry: Json, line: number) => void
  readonly isOnPath: (line: number) => boolean
  /** Undefined if later lines cannot be read without those before them. */
  readonly save: () => SavedPath | undefined
}

/** One byte for each line, because it is kept for the second reading. */
const linesOnPath = (lines: readonly number[], parents: readonly number[], last: number): Uint8Array => {
  const path = new Uint8Array((lines.at(-1) ?? 0) + 1)
  for (let entry = last; entry !== NONE; entry = parents[entry]!) path[lines[entry]!] = 1
  return path
}

/**
 * The tree of a session's entries without their content: for each entry the number of its line, and of its parent. A parent always
 * has a lower number than its child, so that a path has no cycles.
 */
export const newTree = (): Path => {
  const numberOf = newHashedMap()
  const lines: number[] = []
  const parents: number[] = []
  let [last, lastId]: [number, string | undefined] = [NONE, undefined]
  let path: Uint8Array | undefined

  const parentOf = (parentId: unknown): number => {
    if (parentId === null) return NONE
    return (typeof parentId === 'string' ? numberOf.get(parentId) : undefined) ?? lines.length - 1
  }

  return {
    add: ({ id, parentId }, line) => {
      const known = typeof id === 'string' ? numberOf.get(id) : undefined
      last = known ?? lines.length
      path = undefined
      if (known !== undefined) return
      parents.push(parentOf(parentId))
      lines.push(line)
      lastId = typeof id === 'string' ? id : undefined
      if (lastId !== undefined) numberOf.add(lastId, last)
    },
    isOnPath: (line) => (path ??= linesOnPath(lines, parents, last))[line] === 1,
    save: () =>
      last === lines.length - 1 ? { known: numberOf.saveKeys(), last: lastId, isEmpty: lines.length === 0 } : undefined,
  }
}

/** The path after a saved state. Throws NeedsWhole for an entry whose parent is not the entry before it. */
export const newChain = (saved: SavedPath): Path => {
  const known = newHashedMap(saved.known)
  let { last, isEmpty } = saved
  return {
    add: ({ id, parentId }) => {
      const branches = typeof parentId === 'string' && parentId !== last && known.get(parentId) !== undefined
      const isRoot = parentId === null && !isEmpty
      if (branches || isRoot || (typeof id === 'string' && !known.add(id))) throw new NeedsWhole()
      last = typeof id === 'string' ? id : undefined
      isEmpty = false
    },
    isOnPath: () => true,
    save: () => ({ known: known.saveKeys(), last, isEmpty }),
  }
}
