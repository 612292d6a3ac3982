import { graphemeBefore, trimEndMatching } from '../base/texts.ts'

/**
 * Characters that are invisible, control a terminal, end a line invisibly, or change the direction of writing: control characters except tab
 * and line feed, line separators, overrides and isolates of direction, the byte order mark, tags, noncharacters, lone surrogates.
 */
const UNSEEN =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u180e\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Noncharacter_Code_Point}\p{Cs}]/gu

const DELETE = 0x7f
const PICTURES = 0x2400

const mark = (character: string): string => {
  const code = character.codePointAt(0)!
  if (code < 0x20) return String.fromCharCode(PICTURES + code)
  if (code === DELETE) return '\u2421'
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'
  return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`
}

/** Text with visible characters only: NUL as `␀`, lone surrogates as `�`, others as `⟨U+202E⟩`; lines end in `\n`. */
export const visible = (text: string): string => text.replace(/\r\n?/g, '\n').replace(UNSEEN, mark)

const SEEN = /[^\t\n\r\p{Zs}]/u

/** Whether nothing of a text can be seen: unlike `trim`, this knows that some white space is shown as a mark. */
export const isUnseen = (text: string): boolean => !SEEN.test(text)

/** A text without the white space at its end that cannot be seen. */
export const withoutEnd = (text: string): string => trimEndMatching(text, /[\t\n\r\p{Zs}]/u)

/** The most characters of a line: more than any name that the service accepts now, but older logs may have longer names. */
const MOST_LINE = 8 * 1024

/** Text with visible characters only, on one line, for names and titles. Very long text is cut. */
export const visibleLine = (text: string): string => {
  const line = visible(text.slice(0, graphemeBefore(text, MOST_LINE)))
    .replace(/\s+/g, ' ')
    .trim()
  return text.length > MOST_LINE ? `${line}…` : line
}
