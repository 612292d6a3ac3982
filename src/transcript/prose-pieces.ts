/** From this number of characters on, a piece of Markdown ends at the next empty line outside of fenced code. */
const WANTED = 8 * 1024
/** A longer piece is not parsed as Markdown, because some texts take markdown-it long. */
const MOST = 16 * 1024
const MOST_LINES = 400

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const INDENTED = /^[ \t]/

export type Fence = { readonly character: string; readonly length: number }

/** The fence that a line opens. What follows backticks must have none, or they are code inside a line. */
export const fenceOf = (line: string): Fence | undefined => {
  const run = FENCE.exec(line)?.[1]
  if (run === undefined) return undefined
  const isCode = run.startsWith('`') && line.includes('`', line.indexOf(run) + run.length)
  return isCode ? undefined : { character: run[0]!, length: run.length }
}

/** The fence that is open after a line. */
export const fenceAfter = (line: string, open: Fence | undefined): Fence | undefined => {
  if (!open) return fenceOf(line)
  const run = FENCE.exec(line)?.[1]
  const closes = run?.[0] === open.character && run.length >= open.length && line.trim() === run
  return closes ? undefined : open
}

type ProsePiece = { readonly is: 'markdown' | 'plain'; readonly text: string }

const pieceOf = (text: string, lines: number): ProsePiece => ({
  is: text.length > MOST || lines > MOST_LINES ? 'plain' : 'markdown',
  text,
})

/** From this number of `|` on, a piece ends in the same way: a cell of a table takes markdown-it as long as many characters. */
const MOST_PIPES = 1_000

/** A step ends after this many characters even without a piece. Each line counts as `LINE` characters more. */
const STEP = 64 * 1024
const LINE = 32

/** Cuts Markdown into pieces that can be parsed one by one, between blocks at the top level. Yields undefined for a step without one. */
export function* prosePieces(text: string): Generator<ProsePiece | undefined, void> {
  let left = STEP
  let start = 0
  let lines = 0
  let pipes = 0
  let fence: Fence | undefined
  let wasEmpty = false
  for (let offset = 0; offset < text.length;) {
    const next = text.indexOf('\n', offset)
    const end = next < 0 ? text.length : next + 1
    const line = text.slice(offset, Math.min(end, offset + MOST))
    const isEnd = !fence && wasEmpty && !INDENTED.test(line)
    if (isEnd && (offset - start >= WANTED || lines >= MOST_LINES / 2 || pipes >= MOST_PIPES)) {
      yield pieceOf(text.slice(start, offset), lines)
      start = offset
      lines = 0
      pipes = 0
    }
    fence = fenceAfter(line, fence)
    wasEmpty = line.trim() === ''
    lines += 1
    if (!fence) pipes += line.split('|').length - 1
    left -= LINE + line.length
    offset = end
    if (left > 0) continue
    yield undefined
    left = STEP
  }
  if (start < text.length) yield pieceOf(text.slice(start), lines)
}
