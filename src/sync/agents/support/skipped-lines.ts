/** Counts the lines that cannot be read, and passes each on to `onMalformed`. */
export const countSkipped = (onMalformed: (line: number) => void) => {
  const skipped = {
    lines: 0,
    onMalformed: (line: number) => {
      skipped.lines++
      onMalformed(line)
    },
  }
  return skipped
}
