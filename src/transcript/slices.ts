/** How many characters are processed at a time, so that the event loop is never blocked for long. */
export const SLICE = 32 * 1024

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff
const CARRIAGE_RETURN = 0x0d

/** Cuts a text, but never inside a character, or between `\r` and `\n`. */
export function* slices(text: string, size = SLICE): Generator<string, void> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + size, text.length)
    const last = text.charCodeAt(end - 1)
    if (end < text.length && (isHighSurrogate(last) || last === CARRIAGE_RETURN)) end += 1
    yield text.slice(start, end)
    start = end
  }
}

const MOST_COUNTED = 10_000

/** The number of lines of a text, at most `MOST_COUNTED`. */
export const countLines = (text: string): number => {
  let lines = text === '' ? 0 : 1
  for (
    let start = text.indexOf('\n');
    start >= 0 && start < text.length - 1 && lines < MOST_COUNTED;
    start = text.indexOf('\n', start + 1)
  )
    lines += 1
  return lines
}

/** The same as text: `312 lines`; empty for a single line. */
export const linesText = (text: string): string => {
  const lines = countLines(text)
  if (lines === 0) return 'empty'
  return lines === 1 ? '' : `${lines.toLocaleString('en')}${lines === MOST_COUNTED ? ' or more' : ''} lines`
}
