/** A piece of a text, as UTF-16 offsets. */
export type Span = readonly [start: number, end: number]

/** What begins a line of Markdown: quotes, headings, bullets, and boxes of tasks. Numbers of lists stay. */
const LINE_START = /^[ \t]*(?:>[ \t]?)*(?:#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)?/
/** A line that is only drawn: a rule, the underline of a heading, or what separates the head of a table from its rows. */
const DRAWN = /^(?:[-*_= \t]{3,}|[-:| \t]{3,})$/

/** The characters that may begin or end a mark inside of a line. */
const MARK = /[\\`[\]<*_~]/g
const ESCAPABLE = /[!-/:-@[-`{-~]/
const ADDRESS = /<[a-z]{2,10}:[^\s<>]+>/y
const WORD = /[\p{L}\p{N}_]/u

/** The end of the run of one character that begins at an index. */
const endOfRun = (text: string, at: number): number => {
  let end = at
  while (text[end] === text[at] && end < text.length) end += 1
  return end
}

/** Marks that begin at an index, and where the text goes on behind them. */
type Read = { readonly marks: readonly Span[]; readonly end: number }

const escapeAt = (text: string, at: number): Read | undefined =>
  ESCAPABLE.test(text[at + 1] ?? '') ? { marks: [[at, at + 1]], end: at + 2 } : undefined

const codeAt = (text: string, at: number): Read => {
  const start = endOfRun(text, at)
  for (let close = text.indexOf('`', start); close >= 0; close = text.indexOf('`', close)) {
    const end = endOfRun(text, close)
    if (end - close === start - at)
      return {
        marks: [
          [at, start],
          [close, end],
        ],
        end,
      }
    close = end
  }
  return { marks: [], end: start }
}

const addressAt = (text: string, at: number): Read | undefined => {
  ADDRESS.lastIndex = at
  if (!ADDRESS.test(text)) return undefined
  const end = ADDRESS.lastIndex
  return {
    marks: [
      [at, at + 1],
      [end - 1, end],
    ],
    end,
  }
}

/** The end of the target of a link, from its `(` on; undefined if there is none on this line. */
const endOfTarget = (text: string, at: number): number | undefined => {
  if (text[at] !== '(') return undefined
  let depth = 0
  for (let end = at; end < text.length && text[end] !== '\n'; end += 1) {
    if (text[end] === '(') depth += 1
    if (text[end] === ')') depth -= 1
    if (depth === 0) return end + 1
  }
  return undefined
}

/** Reads links and pictures, of which the text stays. */
const newLinks = () => {
  const starts: number[] = []
  const endsAt = (text: string, at: number): Read | undefined => {
    const [start, end] = [starts.pop(), endOfTarget(text, at + 1)]
    if (start === undefined || end === undefined) return undefined
    return {
      marks: [
        [text[start - 1] === '!' ? start - 1 : start, start + 1],
        [at, end],
      ],
      end,
    }
  }
  const beginsAt = (at: number): undefined => {
    starts.push(at)
  }
  return { beginsAt, endsAt }
}

/** Whether a run of marks may begin or end emphasis, by the characters beside it. A longer run does neither. */
const flanks = (text: string, [start, end]: Span) => {
  const [before, after] = [text[start - 1] ?? ' ', text[end] ?? ' ']
  const isMark = text[start] === '~' ? end - start === 2 : end - start <= 3
  const isInWord = text[start] === '_' && WORD.test(before) && WORD.test(after)
  return { opens: isMark && !isInWord && /\S/.test(after), closes: isMark && !isInWord && /\S/.test(before) }
}

/** Reads emphasis, whose two runs of marks are the same. */
const newEmphasis = () => {
  const open: Span[] = []
  return (text: string, at: number): Read => {
    const run: Span = [at, endOfRun(text, at)]
    const { opens, closes } = flanks(text, run)
    const opening = closes ? open.findLastIndex((one) => text.slice(...one) === text.slice(...run)) : -1
    if (opening < 0 && opens) open.push(run)
    const marks = opening < 0 ? [] : [open[opening]!, run]
    if (opening >= 0) open.length = opening
    return { marks, end: run[1] }
  }
}

/** The marks inside of a paragraph: escapes, code, links with their targets, and emphasis. What has no end is text. */
const marksInside = (text: string): (readonly Span[])[] => {
  const found: (readonly Span[])[] = []
  const [links, emphasisAt] = [newLinks(), newEmphasis()]
  const readAt = (at: number): Read | undefined => {
    switch (text[at]) {
      case '\\':
        return escapeAt(text, at)
      case '`':
        return codeAt(text, at)
      case '<':
        return addressAt(text, at)
      case '[':
        return links.beginsAt(at)
      case ']':
        return links.endsAt(text, at)
      default:
        return emphasisAt(text, at)
    }
  }
  for (let at = text.search(MARK); at >= 0;) {
    const { marks, end } = readAt(at) ?? { marks: [], end: at + 1 }
    found.push(marks)
    MARK.lastIndex = end
    at = MARK.exec(text)?.index ?? -1
  }
  return found
}

/** The marks of a line, and those between the cells of a table. */
const marksOfLine = (line: string): Span[] => {
  if (DRAWN.test(line.trim())) return [[0, line.length]]
  const start = LINE_START.exec(line)![0].length
  const cells = line.startsWith('|', start)
    ? [...line.matchAll(/\|/g)].map(({ index }): Span => [index, index + 1])
    : []
  return start > 0 ? [[0, start], ...cells] : cells
}

const movedBy = (offset: number, spans: readonly Span[]): Span[] =>
  spans.map(([start, end]) => [offset + start, offset + end])

/**
 * The marks of Markdown in a short text without fenced code, which a reader of it does not see; those that belong together, such as all of a link, in
 * one list. The text is a piece of a message, which `../../transcript/prose.ts` could read only as a whole: a mark whose other half lies outside stays text.
 */
export const proseMarks = (text: string): (readonly Span[])[] => {
  const found: (readonly Span[])[] = []
  let [paragraph, at] = [0, 0]
  for (const line of [...text.split('\n'), '']) {
    if (line.trim() === '') {
      found.push(...marksInside(text.slice(paragraph, at)).map((marks) => movedBy(paragraph, marks)))
      paragraph = at
    }
    found.push(...movedBy(at, marksOfLine(line)).map((mark) => [mark]))
    at += line.length + 1
  }
  return found
}
