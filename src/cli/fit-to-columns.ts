import stringWidth from 'string-width'
import { escapeControls } from './escape.ts'

const clusters = new Intl.Segmenter()

/** No column takes more characters than this on average: what lies behind is not looked at. */
const CHARACTERS_A_COLUMN = 32

/**
 * A line as it is printed, cut to so many columns of a terminal with an ellipsis as the last one. Wide characters and emoji
 * take two columns, combining marks none; none of them is cut apart.
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
