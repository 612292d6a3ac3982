import type { Json } from './json.ts'
import { count } from './trace-fields.ts'

/** How often each kind of line, record or block occurs that a parser does not know, and so leaves out. */
export type UnknownKinds = ReadonlyMap<string, number>

/** The most kinds that are told apart in a session; all further ones count as one. */
const MOST_KINDS = 100
const OTHER = 'other'

/** A kind as it is named to people: what a file says it is, unless that is more than a name. */
const nameOf = (kind: unknown): string => (typeof kind === 'string' && /^[\w.:/-]{1,60}$/.test(kind) ? kind : OTHER)

export const newUnknownKinds = (known: UnknownKinds = new Map()) => {
  const counts = new Map(known)
  return {
    add: (kind: unknown): void => {
      const name = nameOf(kind)
      count(counts, counts.has(name) || counts.size < MOST_KINDS ? name : OTHER)
    },
    counts: (): UnknownKinds => counts,
  }
}

const noKinds: readonly unknown[] = []

/** The types of blocks that are none of `known`. */
export const unknownBlocks = (blocks: readonly Json[], known: readonly string[]): readonly unknown[] => {
  const isUnknown = ({ type }: Json): boolean => !known.includes(String(type))
  return blocks.some(isUnknown) ? blocks.filter(isUnknown).map(({ type }) => type) : noKinds
}
