const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Whether the quote at this index is escaped: an odd number of backslashes comes before it. */
const isEscaped = (text: Uint8Array, quote: number): boolean => {
  let before = quote - 1
  while (text[before] === BACKSLASH) before -= 1
  return (quote - before) % 2 === 0
}

/** The index of the closing quote of the string that begins at `start`; the text's length when there is none. */
const closingQuote = (text: Uint8Array, start: number): number => {
  let i = text.indexOf(QUOTE, start + 1)
  if (i < 0) return text.length
  if (!isEscaped(text, i)) return i
  // Byte by byte from here on: a string with one escaped quote has often many, and a search for each would be slower.
  for (i += 1; i < text.length && text[i] !== QUOTE; i++) if (text[i] === BACKSLASH) i += 1
  return i
}

/**
 * Counts the values in JSON text, including lists and objects, up to one more than `most`. Does not parse: counts commas, and
 * brackets of lists and objects that are not empty. For text that is not JSON the result has no meaning.
 */
export const countValues = (text: Uint8Array, most = Number.MAX_SAFE_INTEGER): number => {
  let count = 1
  let hasOpened = false
  for (let i = 0; i < text.length && count <= most; i++) {
    const byte = text[i]!
    if (byte <= 0x20) continue
    if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) hasOpened = false
    else {
      if (hasOpened || byte === COMMA) count += 1
      hasOpened = byte === OPEN_LIST || byte === OPEN_OBJECT
      if (byte === QUOTE) i = closingQuote(text, i)
    }
  }
  return count
}
