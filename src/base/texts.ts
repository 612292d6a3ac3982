/**
 * Limits for texts that lists show, in characters (code points, as JSON Schema counts them). The service refuses longer ones;
 * the command line truncates them before it sends.
 */

/** Names, models, branches, names and ids of tool calls. */
export const SHORT_TEXT = 256
/** Titles, descriptions, paths and addresses. */
export const LONG_TEXT = 4_096

export const isLongerThan = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most)

const graphemes = new Intl.Segmenter('und')
/** The most characters (UTF-16) of a grapheme before which a text is cut; a longer one is cut itself. */
const MOST_GRAPHEME = 128

/** The last index up to `at` between two graphemes: an accent, a family of emoji, or half a syllable of Korean is not cut off. */
export const graphemeBefore = (text: string, at: number): number => {
  if (at >= text.length || at <= 0) return Math.min(Math.max(at, 0), text.length)
  if (text.charCodeAt(at - 1) < 0x80 && text.charCodeAt(at) < 0x80 && text[at] !== '\n') return at // for speed
  const from = Math.max(0, at - MOST_GRAPHEME)
  const found = graphemes.segment(text.slice(from, at + MOST_GRAPHEME)).containing(at - from)
  if (found && found.index > 0) return from + found.index
  return text.codePointAt(at - 1)! > 0xffff ? at - 1 : at
}

/**
 * Truncates a text to `most` characters, with an ellipsis as the last one, and never inside a grapheme; a text that is not longer stays as
 * it is.
 */
export const truncateText = (text: string, most: number): string => {
  if (!isLongerThan(text, most)) return text
  const cut = [...text.slice(0, 2 * most)].slice(0, most - 1).join('')
  return `${text.slice(0, graphemeBefore(text, cut.length)).trimEnd()}…`
}

/** The most characters of a title in a list for a terminal. */
export const LISTED_TITLE = 80

/** A text on one line of at most `most` characters (UTF-16), an ellipsis included: cut between words, else between graphemes. */
export const truncateLine = (text: string, most: number): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= most) return line
  const end = graphemeBefore(line, most - 1)
  const space = line.lastIndexOf(' ', end)
  return `${line.slice(0, space > most / 2 ? space : end).trimEnd()}…`
}

/**
 * Removes the characters at the end of a text that match a pattern of one character. A pattern like `/[…]+$/` would take
 * quadratic time, because its search starts again at each such character.
 */
export const trimEndMatching = (text: string, character: RegExp): string => {
  let end = text.length
  while (end > 0 && character.test(text[end - 1]!)) end -= 1
  return text.slice(0, end)
}
