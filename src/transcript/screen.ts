import { type Steps, atOnce } from '../base/json/steps.ts'
import { SEQUENCE } from '../base/terminal-sequences.ts'
import { toolName } from './tool-names.ts'

/** No terminal has so many columns. A longer line is not a line of a terminal: each part after a carriage return gets its own line. */
const MOST_COLUMNS = 2_000
/** How many columns a tab leads on to a multiple of. */
const TAB = 8
/** The colours and marks that one character may have. */
const MOST_STYLES = 32
/** A step ends after this many characters. */
const STEP = 16 * 1024

/** What can change a character that stands already: carriage returns, backspaces, erasures, and moves within the line. */
const CHANGES = /\r(?!\n|$)|[\b]|\u001b\[\d{0,5}[CDGK]/
const STYLES = /\u001b\[[\d;:]{0,48}m/g
const STYLE = /^\u001b\[[\d;:]*m$/
const RESET = /^\u001b\[(?:0*m|0*;)/

/** The last of the characters that take a column, and no more. */
const LAST_USUAL = '\u02ff'
const NO_COLUMN = /[\0\u0007\p{Mn}\p{Me}\u200d\ufe0e\ufe0f]/u
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u

/** A column: what stands there, in which colours. The second column of a wide character has the text `''`. */
type Cell = { text: string; readonly style: string }

const BLANK: Cell = { text: ' ', style: '' }

/** The colours of what is written next, as the sequences that set them. */
const newPen = () => {
  const styles = new Set<string>()
  let style: string | undefined
  const set = (sequence: string) => {
    if (RESET.test(sequence)) styles.clear()
    styles.delete(sequence) // so that it is the last
    if (!/^\u001b\[0*m$/.test(sequence)) styles.add(sequence)
    if (styles.size > MOST_STYLES) styles.delete(styles.values().next().value!)
    style = undefined
  }
  return { set, style: () => (style ??= [...styles].join('')) }
}
type Pen = ReturnType<typeof newPen>

/** A line of a terminal. `isOver` once it is longer than that of any terminal. */
class Line {
  readonly cells: Cell[] = []
  #column = 0
  isOver = false
  /** How many columns were filled or erased since this was last set. */
  work = 0

  #moveTo(column: number) {
    this.#column = Math.max(0, column)
    this.isOver ||= this.#column > MOST_COLUMNS
  }

  /** Writing or erasing one half of a wide character leaves a space in the other. */
  #clear(column: number) {
    if (this.cells[column]?.text === '') this.cells[column - 1] = BLANK
    if (this.cells[column + 1]?.text === '') this.cells[column + 1] = BLANK
  }

  put(character: string, style: string) {
    if ((character > LAST_USUAL || character < ' ') && NO_COLUMN.test(character)) {
      const before = this.cells[this.#column - 1]
      if (before && character > '\u0007')
        this.cells[this.#column - 1] = { ...before, text: `${before.text}${character}` }
      return
    }
    this.work += Math.max(1, this.#column - this.cells.length)
    while (this.cells.length < this.#column) this.cells.push(BLANK)
    const texts = character > LAST_USUAL && WIDE.test(character) ? [character, ''] : [character]
    for (const text of texts) {
      this.#clear(this.#column)
      this.cells[this.#column] = { text, style }
      this.#moveTo(this.#column + 1)
    }
  }

  /** `sign` is `\r`, `\b`, `\t`, or the last character of a sequence. */
  move(sign: string, count: number) {
    switch (sign) {
      case '\r':
        return this.#moveTo(0)
      case '\b':
      case 'D':
        return this.#moveTo(this.#column - (count || 1))
      case 'C':
        return this.#moveTo(this.#column + (count || 1))
      case 'G':
        return this.#moveTo((count || 1) - 1)
      case '\t':
        return this.#moveTo((Math.floor(this.#column / TAB) + 1) * TAB)
      case 'K':
        return this.#erase(count)
    }
  }

  /** 0: from the cursor on; 1: up to and with it; 2: the whole line. */
  #erase(what: number) {
    if (what !== 0) {
      this.work += this.cells.length
      this.#clear(this.#column)
      for (let i = 0; i <= this.#column && i < this.cells.length; i++) this.cells[i] = BLANK
    }
    if (what === 1 || this.#column >= this.cells.length) return
    this.#clear(this.#column)
    this.cells.length = this.#column
  }

  /** The text, with the sequences that change its colours; in those of `before` at first, and of `after` in the end. */
  text(before: string, after: string): string {
    while (this.cells.at(-1) && this.cells.at(-1)!.text === ' ') this.cells.pop()
    let [text, style] = ['', before]
    const wear = (next: string) => {
      if (next !== style) text += `\u001b[0m${next}`
      style = next
    }
    for (const cell of this.cells) {
      wear(cell.style)
      text += cell.text
    }
    wear(after)
    return text
  }
}

const MOVES: ReadonlySet<string> = new Set(['\r', '\b', '\t'])

/** Writes text without sequences. */
function* write(text: string, line: Line, style: string): Steps<void> {
  for (const character of text) {
    if (line.isOver) return
    if (MOVES.has(character)) line.move(character, 0)
    else line.put(character, style)
    line.work += 1
    if (line.work < STEP) continue
    yield
    line.work = 0
  }
}

/** Takes the colours of a line. */
function* wear(text: string, pen: Pen): Steps<void> {
  let left = STEP
  for (const [sequence] of text.matchAll(STYLES)) {
    pen.set(sequence)
    if ((left -= sequence.length) > 0) continue
    yield
    left = STEP
  }
}

/** What a terminal shows of a line with changes. */
function* lineText(text: string, pen: Pen): Steps<string> {
  const before = pen.style()
  const line = new Line()
  let done = 0
  for (const { 0: sequence, index } of text.matchAll(SEQUENCE)) {
    if (index > done) yield* write(text.slice(done, index), line, pen.style())
    done = index + sequence.length
    if (STYLE.test(sequence)) pen.set(sequence)
    else if (sequence[1] === '[') line.move(sequence.at(-1)!, Number.parseInt(sequence.slice(2), 10) || 0)
    line.work += sequence.length
    if (line.work < STEP) continue
    yield
    line.work = 0
  }
  yield* write(text.slice(done), line, pen.style())
  return line.isOver ? text.replaceAll('\r', '\n') : line.text(before, pen.style())
}

const ERASURE = /\u001b\[\d{0,5}K/

/**
 * The index of the carriage return in a line that has only one, after which comes less than what stands there, and nothing erases that; -1 for any other line. A terminal shows a
 * mixture of both texts, which no program means: it wrote for a file, and meant two lines.
 */
const endOfHalf = (line: string): number => {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  const at = text.indexOf('\r')
  const rest = text.slice(at + 1)
  if (at < 0 || rest === '' || rest.includes('\r') || ERASURE.test(rest)) return -1
  return rest.replace(SEQUENCE, '').length < line.slice(0, at).replace(SEQUENCE, '').length ? at : -1
}

/**
 * What a terminal shows in the end of what a program wrote, in steps: carriage returns, backspaces, erasures (`ESC[K`) and moves within a line
 * are carried out, so that a bar of progress is one line. Colours stay; so do lines without any of these, character by character.
 */
export function* screenSteps(text: string): Steps<string> {
  if (!CHANGES.test(text)) return text
  const pen = newPen()
  let all = ''
  let left = STEP
  for (let at = 0; at < text.length;) {
    const next = text.indexOf('\n', at)
    const end = next < 0 ? text.length : next
    const line = text.slice(at, end)
    const half = endOfHalf(line)
    for (const [i, part] of (half < 0 ? [line] : [line.slice(0, half), line.slice(half + 1)]).entries()) {
      if (i > 0) all += '\n'
      if (CHANGES.test(part)) all += yield* lineText(part, pen)
      else {
        yield* wear(part, pen)
        all += part
      }
    }
    if (next >= 0) all += '\n'
    left -= end - at + 1
    at = end + 1
    if (left > 0) continue
    yield
    left = STEP
  }
  return all
}

/** Tools whose answers are the contents of files and pages: in these a carriage return only ends a line. */
const CONTENTS: ReadonlySet<string> = new Set(['read', 'grep', 'glob', 'ls', 'web_fetch', 'web_search'])

const isForScreen = (name: string): boolean => !CONTENTS.has(toolName(name.slice(0, MOST_NAME)))
const MOST_NAME = 500

/** What Claude Code writes around the reason why it has refused a call. */
const WRAPPER = ['<tool_use_error>', '</tool_use_error>'] as const

const unwrapped = (text: string): string => {
  const [start, end] = WRAPPER
  return text.startsWith(start) && text.endsWith(end) ? text.slice(start.length, -end.length) : text
}

/** The output of a tool as it is shown: as a terminal shows it, if it may have been written to one, and without what an agent wrote around it. */
export function* outputSteps({
  toolName,
  output,
}: {
  readonly toolName: string
  readonly output: string
}): Steps<string> {
  const text = unwrapped(output)
  return isForScreen(toolName) ? yield* screenSteps(text) : text
}

/** The same at once. */
export const outputText = (result: { readonly toolName: string; readonly output: string }): string =>
  atOnce(outputSteps(result))
