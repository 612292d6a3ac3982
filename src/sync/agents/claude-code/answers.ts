import { newHashedMap, type SavedMap } from '../support/hashed-map.ts'
import { NeedsWhole } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'

/** An answer and the numbers of its first and last line. `offset` is the number of bytes before the first line. */
type Open = { readonly id: string; readonly first: number; readonly offset: number; last: number }

/** How many of the newest answers may get more lines before the whole session has to be read again. */
const NEWEST = 4
/** An answer that begins further from the end is not read again. */
const MAX_BYTES = 256 << 10

/** The first of the newest answers that begins near the end of what was read, and after all older answers have ended. */
const firstOpen = (newest: readonly Open[], end: number): Open | undefined =>
  newest.find(
    ({ first, offset }, index) => end - offset <= MAX_BYTES && newest.slice(0, index).every(({ last }) => last < first),
  )

/**
 * Notes the places of the lines of each answer, which may be anywhere in the file (README, rule 3). Of answers before a saved state
 * only the ids are known.
 */
export const newAnswers = (saved?: SavedMap) => {
  // The number of the last line of each answer, doubled, plus 1 where its model is known. 0 for answers before the saved state.
  const lines = newHashedMap(saved)
  let newest: Open[] = []

  const noteNewest = (id: string, { number, offset }: ObjectLine, isKnown: boolean): void => {
    const open = newest.find((answer) => answer.id === id)
    if (open) open.last = number
    else if (isKnown) newest = []
    else newest = [...newest.slice(1 - NEWEST), { id, first: number, offset, last: number }]
  }

  return {
    /**
     * Adds a line of an answer; true if it is the first line with the model. Throws NeedsWhole if the answer began before the
     * saved state.
     */
    add: (id: string, line: ObjectLine, hasModel: boolean): boolean => {
      const known = lines.get(id)
      if (known === 0) throw new NeedsWhole()
      const hadModel = known !== undefined && known % 2 === 1
      lines.set(id, line.number * 2 + Number(hadModel || hasModel))
      noteNewest(id, line, known !== undefined)
      return hasModel && !hadModel
    },
    isLast: (id: string, line: number): boolean => (lines.get(id) ?? 0) >>> 1 <= line,
    /** The line where a later reading has to begin to see all lines of the newest answers. `end`: how many bytes were read. */
    firstOpenLine: (end: number): number | undefined => firstOpen(newest, end)?.first,
    save: (): SavedMap => lines.saveKeys(),
  }
}
