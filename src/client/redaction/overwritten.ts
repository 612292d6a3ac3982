import { ERASE_LINE, ERASE_REST } from './hidden.ts'
import type { Range } from './named-values.ts'
import { newPieces, type Shown } from './pieces.ts'

/** The longest text between two carriage returns that is written over another. No terminal has so many columns. */
const MOST_COLUMNS = 10_000

/** A column: the index of the character that is shown, and of the first one that was written there since the last carriage return. */
type Cell = { readonly shown: number; readonly first: number }

/** Writes a text without carriage returns over what is in a line. Returns what it alone shows. */
const write = (text: string, { start, end }: Range, line: Cell[]): readonly Cell[] => {
  let column = 0
  const own: Cell[] = []
  const erase = (from: number) => (own.length = line.length = column = from)
  for (let index = start; index < end; index++)
    if (text[index] === '\b') column = Math.max(0, column - 1)
    else if (text[index] === ERASE_REST) erase(column)
    else if (text[index] === ERASE_LINE) erase(0)
    else {
      own[column] = line[column] = { shown: index, first: own[column]?.first ?? index }
      column++
    }
  return own
}

/** The parts of a line between carriage returns. */
const partsOf = (text: string, { start, end }: Range): readonly Range[] => {
  const parts: Range[] = []
  for (let from = start; from <= end;) {
    const next = text.indexOf('\r', from)
    const to = next < 0 || next > end ? end : next
    parts.push({ start: from, end: to })
    from = to + 1
  }
  return parts
}

/** A line as its parts leave it, and each part alone, if it shows anything else. */
const overwrite = (text: string, range: Range) => {
  const line: Cell[] = []
  const parts = partsOf(text, range).map((part) => write(text, part, line))
  const isOther = (part: readonly Cell[]) =>
    part.length > 0 &&
    (part.length !== line.length || part.some(({ shown }, at) => text[shown] !== text[line[at]!.shown]))
  return { line, others: parts.filter(isOther) }
}

/**
 * A text with what carriage returns, backspaces and erasures leave on the screen, and behind it what they have written over, because that is
 * in the text as well. Undefined for a text without them.
 */
export const showOverwritten = (text: string): Shown | undefined => {
  if (!/\r(?!\n)|[\b\u0001\u0002]/.test(text)) return undefined
  const pieces = newPieces(text)
  const put = (cells: readonly Cell[]) => {
    for (const { shown, first } of cells) pieces.put(text[shown]!, first, shown + 1)
  }
  const overwritten: Range[] = []
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start)
    const next = found < 0 ? text.length : found + 1
    const end = found < 0 ? next : text[found - 1] === '\r' ? found - 1 : found
    const line = { start, end }
    if (!/[\r\b\u0001\u0002]/.test(text.slice(start, end))) pieces.keep(start, end)
    else if (partsOf(text, line).every((part) => part.end - part.start <= MOST_COLUMNS)) {
      put(overwrite(text, line).line)
      overwritten.push(line)
    } else
      for (const part of partsOf(text, line)) {
        pieces.keep(part.start, part.end)
        if (part.end < end) pieces.put('\n', part.end, part.end + 1)
      }
    pieces.keep(end, next)
    start = next
  }
  for (const line of overwritten)
    for (const other of overwrite(text, line).others) {
      pieces.put('\n', line.end, line.end)
      put(other)
    }
  return pieces.shown()
}
