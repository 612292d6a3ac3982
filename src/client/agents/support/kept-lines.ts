import type { LineParser } from './line-parser.ts'
import type { ObjectLine } from './lines.ts'

/** People's sessions have 1.3 MB on average, half of which is used, and seldom more than this. Several are kept at the same time. */
const MAX_LENGTH = 2 << 20

/**
 * Keeps the lines of a reading as long as they have at most 2 MiB, so that the next reading need not parse them again. `keep` gives
 * what is needed of a line: the less is kept, the less the garbage collector has to move.
 */
export const newKeptLines = (keep: NonNullable<LineParser<unknown>['keep']> = (line) => line) => {
  let lines: ObjectLine[] | undefined = []
  let length = 0
  return {
    add: (line: ObjectLine): void => {
      length += line.text.length
      if (length > MAX_LENGTH) lines = undefined
      else lines?.push(keep(line, lines.at(-1)))
    },
    /** Undefined if they were too many. */
    all: (): readonly ObjectLine[] | undefined => lines,
  }
}
