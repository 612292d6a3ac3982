import { visible } from '../visible.ts'

/**
 * The only place where text becomes Markdown. It stays text: not a heading, a fence, a tag, a link, a definition, a table, or a
 * formula. In CommonMark every ASCII punctuation can be escaped.
 */

/** Characters with a meaning inside a line. An underscore inside a word has none. */
const ACTIVE = /[\\`*[<~|$]|&(?=[#a-z])|(?<![a-z0-9])_|_(?![a-z0-9])/gi
/** Characters with a meaning only at the start of a line. */
const ACTIVE_START = /^[#>+\-=:]/
const NUMBERED = /^(\d{1,9})([.)])/

/** Text inside a line. */
export const escapeText = (text: string): string => visible(text).replaceAll('\n', ' ').replace(ACTIVE, '\\$&')

/** The same at the start of a line, where white space has a meaning as well. */
export const escapeLine = (text: string): string =>
  escapeText(text).trimStart().replace(ACTIVE_START, '\\$&').replace(NUMBERED, '$1\\$2')

/** Text of a heading. A number sign at its end would be read as markup. */
export const escapeHeading = (text: string): string => escapeText(text).replaceAll('#', '\\#')

/** Code inside a line. If a code span could be misread, it is escaped text. */
export const codeSpan = (text: string): string => {
  const line = visible(text).replaceAll('\n', ' ')
  return line.trim() === '' || line.includes('`') || line.endsWith('\\') ? escapeText(text) : `\`${line}\``
}

/** A word after a fence, such as `ts`; empty for any other text. */
export const infoWord = (text: string): string => /^[\w+#.-]{1,30}$/.exec(text)?.[0] ?? ''

const SHORTEST = 3

/** The longest run of backticks in pieces of text, across their ends. Yields empty texts, so that the event loop has its turns. */
function* longestRun(pieces: Iterable<string>): Generator<string, number> {
  let [longest, run] = [0, 0]
  for (const piece of pieces) {
    for (let offset = 0; offset < piece.length;) {
      const next = piece.indexOf('`', offset)
      if (next !== offset) run = 0
      if (next < 0) break
      offset = next
      while (piece[offset] === '`') {
        offset += 1
        run += 1
      }
      longest = Math.max(longest, run)
    }
    yield ''
  }
  return longest
}

/** Fenced code. The fence is longer than any run of backticks in it. `pieces` is called twice. */
export function* fenced(pieces: () => Iterable<string>, info: string): Generator<string, void> {
  const length = Math.max(SHORTEST, (yield* longestRun(pieces())) + 1)
  const fence = '`'.repeat(length)
  yield `${fence}${infoWord(info)}\n`
  let endsLine = true
  for (const piece of pieces()) {
    const shown = visible(piece)
    if (shown !== '') endsLine = shown.endsWith('\n')
    yield shown
  }
  yield `${endsLine ? '' : '\n'}${fence}\n\n`
}

const INDENT = '    '

/** The lines of a text as indented code, without empty lines before and after it, which would not belong to it. */
export const indentedLines = (text: string): string[] =>
  visible(text)
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd()
    .split('\n')
    .map((line) => (line.trim() === '' ? '' : `${INDENT}${line}`))

/** The same piece by piece, for long texts. */
export function* indented(pieces: Iterable<string>): Generator<string, void> {
  let isStart = true
  for (const piece of pieces) {
    const shown = visible(piece)
    const text: string = isStart ? shown.replace(/^(?:[ \t]*\n)+/, '') : shown
    yield text === '' ? '' : `${isStart ? INDENT : ''}${text.replaceAll('\n', `\n${INDENT}`)}`
    isStart &&= text === ''
  }
  yield '\n\n'
}
