import type { ReadOptions } from '../agent.ts'

/** Counts the lines that are skipped, and tells `onMalformed` of each. */
export const countSkipped = (
  onMalformed: ReadOptions['onMalformed'],
): ReadOptions & { readonly count: () => number } => {
  let count = 0
  return {
    onMalformed: (line) => {
      count++
      onMalformed(line)
    },
    count: () => count,
  }
}
