import type { ObjectLine, Place } from './lines.ts'

/** Sessions of people have 1.3 MB in the mean, of which half is used, and seldom more than this; several at once are kept. */
const MAX_LENGTH = 2 << 20

/** All lines of a reading, and the place behind them. */
export type KeptLines = { readonly lines: readonly ObjectLine[]; readonly end: Place }

/** Keeps the lines of a reading while all of them together have at most 2 MiB, so that another one need not parse them. */
export const newKeptLines = () => {
  let lines: ObjectLine[] | undefined = []
  let length = 0
  return {
    add: (line: ObjectLine): void => {
      length += line.text.length
      if (length > MAX_LENGTH) lines = undefined
      else lines?.push(line)
    },
    /** Undefined when they were too many. `end`: the place that was reached. */
    all: (end: Place): KeptLines | undefined => lines && { lines, end },
  }
}

/** The same lines once more, with which `at` moves as it did then. */
export function* linesAgain({ lines, end }: KeptLines, at: Place): Generator<ObjectLine> {
  for (const line of lines) {
    at.line = line.number
    at.offset = line.offset
    yield line
  }
  Object.assign(at, end)
}
