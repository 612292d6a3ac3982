import { newHashedMap } from '../support/hashed-map.ts'
import type { References } from '../support/references.ts'
import type { OpenAnswer } from './messages.ts'

/** Of how many of the newest answers added lines need not cause the whole session to be read again. */
const NEWEST = 4

/** The values of the ids that were set last. */
const newNewest = <T>() => {
  const values = new Map<string, T>()
  return {
    get: (id: string): T | undefined => values.get(id),
    has: (id: string): boolean => values.has(id),
    set: (id: string, value: T): void => {
      values.delete(id)
      values.set(id, value)
      if (values.size > NEWEST) values.delete(values.keys().next().value!)
    },
  }
}

/**
 * The places of the lines of each answer, which may be anywhere in the file (README, rule 3). An answer that is none of the newest and gets
 * another line is noted in `references`.
 */
export const newAnswers = (references: References) => {
  /** The number of the last line of each answer, doubled, plus 1 where its model is known. */
  const lines = newHashedMap()
  const newest = newNewest<true>()
  return {
    /** Adds a line of an answer; true if it is the first line with the model. */
    add: (id: string, line: number, hasModel: boolean): boolean => {
      const known = lines.get(id)
      const hadModel = known !== undefined && known % 2 === 1
      if (known !== undefined && !newest.has(id)) references.add(line, known >>> 1)
      lines.set(id, line * 2 + Number(hadModel || hasModel))
      newest.set(id, true)
      return hasModel && !hadModel
    },
    isLast: (id: string, line: number): boolean => (lines.get(id) ?? 0) >>> 1 <= line,
  }
}

/** The answers of which more lines are expected, and the newest of those that were complete, because lines may be added to them. */
export const newDrafts = () => {
  const open = new Map<string, OpenAnswer>()
  const complete = newNewest<OpenAnswer>()
  return {
    get: (id: string): OpenAnswer | undefined => {
      const earlier = complete.get(id)
      // The parts of a message that was yielded stay as they are.
      return open.get(id) ?? (earlier && { ...earlier, parts: [...earlier.parts] })
    },
    keep: (id: string, draft: OpenAnswer): void => void open.set(id, draft),
    complete: (id: string, draft: OpenAnswer): void => {
      open.delete(id)
      complete.set(id, draft)
    },
  }
}
