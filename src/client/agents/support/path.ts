import type { SessionMessage } from '../agent.ts'
import { newHashedMap } from './hashed-map.ts'
import type { ObjectLine } from './lines.ts'
import { newReferences, type References } from './references.ts'
import { count, mostFrequent, titleOfPrompt } from './trace-fields.ts'

const NONE = -1

/** An entry of a session that is a tree: each names the one that it follows. */
type Entry = { readonly id?: unknown; readonly parentId?: unknown }

/** Gets the entries one by one, and says which lines are on the path from the root to the last entry, in each file that has entries of its own. */
export type Path = {
  /**
   * An entry follows the one before it where its parent is not known. One with the id of an earlier one is a repetition, and not on the path; as the
   * last entry it stands for the earlier one.
   */
  readonly add: (entry: Entry, line: Pick<ObjectLine, 'number' | 'path'>) => void
  readonly isOnPath: (line: number) => boolean
  /** Whether a line from this number on may have changed which lines before it are on the path. */
  readonly reachesBefore: References['reachBefore']
}

/** One byte for each line, because it is kept for the second reading. */
const linesOnPaths = (lines: readonly number[], parents: readonly number[], ends: Iterable<number>): Uint8Array => {
  const path = new Uint8Array((lines.at(-1) ?? 0) + 1)
  for (const last of ends)
    for (let entry = last; entry !== NONE && path[lines[entry]!] === 0; entry = parents[entry]!) path[lines[entry]!] = 1
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
  const ends = new Map<string | undefined, number>()
  let path: Uint8Array | undefined

  const parentOf = (parentId: unknown): number => {
    if (parentId === null) return NONE
    return (typeof parentId === 'string' ? numberOf.get(parentId) : undefined) ?? lines.length - 1
  }

  return {
    add: ({ id, parentId }, { number: line, path: file }) => {
      const last = ends.get(file) ?? NONE
      const known = typeof id === 'string' ? numberOf.get(id) : undefined
      const parent = parentOf(parentId)
      const before = known ?? parent
      // Of the entries after the earlier one of both some may have come on the path, or have left it.
      if (before !== last && ends.has(file)) references.add(line, lines[Math.min(before, last) + 1]!)
      ends.set(file, known ?? lines.length)
      path = undefined
      if (known !== undefined) return
      parents.push(parent)
      lines.push(line)
      if (typeof id === 'string') numberOf.add(id, lines.length - 1)
    },
    isOnPath: (line) => (path ??= linesOnPaths(lines, parents, ends.values()))[line] === 1,
    reachesBefore: references.reachBefore,
  }
}

/** Values of lines, of which each different one is kept once. */
const newLinesByValue = () => {
  const values: string[] = []
  const numberOf = new Map<string, number>()
  const lines: number[] = []
  const numbers: number[] = []
  return {
    add: (line: number, value: string): void => {
      if (!numberOf.has(value)) numberOf.set(value, values.push(value) - 1)
      lines.push(line)
      numbers.push(numberOf.get(value)!)
    },
    onPath: function* ({ isOnPath }: Path): Generator<string> {
      for (const [index, line] of lines.entries()) if (isOnPath(line)) yield values[numbers[index]!]!
    },
  }
}

/** The models and prompts on all branches, because only after the last entry is it known which branch counts. */
export const newBranches = () => {
  const [models, titles, weakTitles] = [newLinesByValue(), newLinesByValue(), newLinesByValue()]
  return {
    note: (message: SessionMessage): void => {
      const found = titleOfPrompt(message)
      if (message.model !== undefined) models.add(message.order, message.model)
      if (found) (found.isWeak ? weakTitles : titles).add(message.order, found.title)
    },
    model: (path: Path): string | undefined => {
      const counts = new Map<string, number>()
      for (const model of models.onPath(path)) count(counts, model)
      return mostFrequent(counts)
    },
    /** The first prompt of the path. */
    title: (path: Path): string | undefined =>
      titles.onPath(path).next().value ?? weakTitles.onPath(path).next().value ?? undefined,
  }
}
export type Branches = ReturnType<typeof newBranches>
