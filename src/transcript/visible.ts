/**
 * What would be invisible, control a terminal, end a line unseen or turn the direction of writing: control characters but tab
 * and line feed, line separators, overrides and isolates of direction, the byte order mark, tags, code points that are no characters, lone surrogates.
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

/** Text in which everything can be seen: NUL as `␀`, lone surrogates as `�`, others as `⟨U+202E⟩`; lines end in `\n`. */
export const visible = (text: string): string => text.replace(/\r\n?/g, '\n').replace(UNSEEN, mark)

/** Longer names than the service takes today: a log may hold such from before. */
const MOST_LINE = 8 * 1024

/** The same on one line, for names and titles; where it is very long it is cut. */
export const visibleLine = (text: string): string => {
  const line = visible(text.slice(0, MOST_LINE)).replace(/\s+/g, ' ').trim()
  return text.length > MOST_LINE ? `${line}…` : line
}
