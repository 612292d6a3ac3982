import type { ReadOptions } from '../agent.ts'

/** Counts the lines that cannot be read, and passes each on to `onMalformed`. */
export const countSkipped = (onMalformed: ReadOptions['onMalformed']): ReadOptions & { readonly lines: number } => {
  let lines = 0
  return {
    get lines() {
      return lines
    },
    onMalformed: (line) => {
      lines++
      onMalformed(line)
    },
  }
}
