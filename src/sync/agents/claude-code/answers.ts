import { newHashedMap, type SavedMap } from '../support/hashed-map.ts'
import { NeedsWhole } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'

/** An answer, by its id, and the numbers of its first and last line. `offset` is how many bytes are before the first one. */
type Open = { readonly id: string; readonly first: number; readonly offset: number; last: number }

/** So many of the newest answers may grow without the whole session being read again, if their lines are not far apart. */
const NEWEST = 4
const MAX_BYTES = 256 << 10

/** The first of the newest answers that begins near the end, and not before an older one has ended. */
const firstOpen = (newest: readonly Open[], end: number): Open | undefined =>
  newest.find(
    ({ first, offset }, index) => end - offset <= MAX_BYTES && newest.slice(0, index).every(({ last }) => last < first),
  )

/**
 * Where the answers of a session are, whose lines may stand anywhere in its file (README, rule 3). Of answers from before a saved
 * state nothing but their ids is known.
 */
export const newAnswers = (saved?: SavedMap) => {
  // The last line of each, doubled; one more when its model is known. 0 of an answer from before.
  const lines = newHashedMap(saved)
  let newest: Open[] = []

  const noteNewest = (id: string, { number, offset }: ObjectLine, isKnown: boolean): void => {
    const open = newest.find((answer) => answer.id === id)
    if (open) open.last = number
    else if (isKnown) newest = []
    else newest = [...newest.slice(1 - NEWEST), { id, first: number, offset, last: number }]
  }

  return {
    /** Adds a line of an answer; true when it is the first one that tells the model. Throws NeedsWhole for an answer from before. */
    add: (id: string, line: ObjectLine, hasModel: boolean): boolean => {
      const known = lines.get(id)
      if (known === 0) throw new NeedsWhole()
      const hadModel = known !== undefined && known % 2 === 1
      lines.set(id, line.number * 2 + Number(hadModel || hasModel))
      noteNewest(id, line, known !== undefined)
      return hasModel && !hadModel
    },
    isLast: (id: string, line: number): boolean => (lines.get(id) ?? 0) >>> 1 <= line,
    /** The line from which a later reading sees all lines of the newest answers. `end`: how many bytes were read. */
    firstOpenLine: (end: number): number | undefined => firstOpen(newest, end)?.first,
    save: (): SavedMap => lines.saveKeys(),
  }
}
