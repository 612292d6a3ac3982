import { newHashedMap } from '../support/hashed-map.ts'
import type { Json } from '../support/json.ts'

const NONE = -1

/** One byte for each line, because this is kept for the second reading, and the tree is not. */
const pathOf = (lines: readonly number[], parents: readonly number[], last: number): ((line: number) => boolean) => {
  const path = new Uint8Array((lines.at(-1) ?? 0) + 1)
  for (let entry = last; entry !== NONE; entry = parents[entry]!) path[lines[entry]!] = 1
  return (line) => path[line] === 1
}

/**
 * The tree of a session's entries, without their content: a number for each entry's line, and one for its parent (README,
 * rule 2). A parent always has a lower number than its child, so that a path cannot go round.
 */
export const newTree = () => {
  const numberOf = newHashedMap()
  const lines: number[] = []
  const parents: number[] = []
  let last = NONE

  const parentOf = (parentId: unknown): number => {
    if (parentId === null) return NONE
    return (typeof parentId === 'string' ? numberOf.get(parentId) : undefined) ?? lines.length - 1
  }

  return {
    /** Adds the entry of a line. */
    add: ({ id, parentId }: Json, line: number): void => {
      const known = typeof id === 'string' ? numberOf.get(id) : undefined
      last = known ?? lines.length
      if (known !== undefined) return
      parents.push(parentOf(parentId))
      lines.push(line)
      if (typeof id === 'string') numberOf.add(id, last)
    },
    /** Tells of a line whether it is on the way from the root to the last entry. */
    path: (): ((line: number) => boolean) => pathOf(lines, parents, last),
  }
}
