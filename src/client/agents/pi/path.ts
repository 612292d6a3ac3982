import { newHashedMap } from '../support/hashed-map.ts'
import { newReferences, type References } from '../support/references.ts'
import type { Json } from '../support/json.ts'

const NONE = -1

/** Gets the entries one by one, and says which lines are on the path from the root to the last entry (README, rule 2). */
export type Path = {
  readonly add: (entry: Json, line: number) => void
  readonly isOnPath: (line: number) => boolean
  /** Whether a line from this number on may have changed which lines before it are on the path. */
  readonly reachesBefore: References['reachBefore']
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
  const references = newReferences()
  let last = NONE
  let path: Uint8Array | undefined

  const parentOf = (parentId: unknown): number => {
    if (parentId === null) return NONE
    return (typeof parentId === 'string' ? numberOf.get(parentId) : undefined) ?? lines.length - 1
  }

  return {
    add: ({ id, parentId }, line) => {
      const known = typeof id === 'string' ? numberOf.get(id) : undefined
      const parent = parentOf(parentId)
      const before = known ?? parent
      // Of the entries after the earlier one of both some may have come on the path, or have left it.
      if (before !== last) references.add(line, lines[Math.min(before, last) + 1]!)
      last = known ?? lines.length
      path = undefined
      if (known !== undefined) return
      parents.push(parent)
      lines.push(line)
      if (typeof id === 'string') numberOf.add(id, last)
    },
    isOnPath: (line) => (path ??= linesOnPath(lines, parents, last))[line] === 1,
    reachesBefore: references.reachBefore,
  }
}
