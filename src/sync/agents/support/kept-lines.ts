import type { LineParser } from './line-parser.ts'
import type { ObjectLine, Place } from './lines.ts'

/** People's sessions have 1.3 MB on average, half of which is used, and seldom more than this. Several are kept at the same time. */
const MAX_LENGTH = 2 << 20

/** All lines of a reading, and the place after them. */
export type KeptLines = { readonly lines: readonly ObjectLine[]; readonly end: Place }

/**
 * Keeps the lines of a reading as long as they have at most 2 MiB, so that the next reading need not parse them again. `keep` gives
 * what is needed of a line: the less is kept, the less the garbage collector has to move.
 */
export const newKeptLines = (keep: NonNullable<LineParser<unknown, unknown>['keep']> = (line) => line) => {
  let lines: ObjectLine[] | undefined = []
  let length = 0
  return {
    add: (line: ObjectLine): void => {
      length += line.text.length
      if (length > MAX_LENGTH) lines = undefined
      else lines?.push(keep(line, lines.at(-1)))
    },
    /** Undefined if they were too many. `end` is the place after the last line. */
    all: (end: Place): KeptLines | undefined => lines && { lines, end },
  }
}

/** Yields the same lines again, and moves `at` as the first reading did. */
export function* linesAgain({ lines, end }: KeptLines, at: Place): Generator<ObjectLine> {
  for (const line of lines) {
    at.line = line.number
    at.offset = line.offset
    yield line
  }
  Object.assign(at, end)
}
