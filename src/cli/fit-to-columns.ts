import stringWidth from 'string-width'
import { escapeControls } from '../base/escape.ts'

const clusters = new Intl.Segmenter()

/** The most characters per column, on average: text beyond that is not processed. */
const CHARACTERS_A_COLUMN = 32

/**
 * An escaped line, cut to a number of columns of a terminal, the last of which is an ellipsis then. Wide characters and emoji take
 * two columns, combining marks none; no grapheme is split.
 */
export const fitToColumns = (line: string, columns: number): string => {
  const most = columns * CHARACTERS_A_COLUMN
  const plain = escapeControls(line.slice(0, most))
  if (line.length <= most && stringWidth(plain) <= columns) return plain
  let [text, width] = ['', 0]
  for (const { segment } of clusters.segment(plain)) {
    width += stringWidth(segment)
    if (width >= columns) break
    text += segment
  }
  return `${text}…`
}
