const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Whether the quote there is part of the string: an odd number of backslashes leads up to it. */
const isEscaped = (text: Uint8Array, quote: number): boolean => {
  let before = quote - 1
  while (text[before] === BACKSLASH) before -= 1
  return (quote - before) % 2 === 0
}

/** Where the closing quote is of the string that begins at `start`; the text's end when it has none. */
const closingQuote = (text: Uint8Array, start: number): number => {
  let i = text.indexOf(QUOTE, start + 1)
  if (i < 0) return text.length
  if (!isEscaped(text, i)) return i
  // Such a string has more of them: looking for each anew would cost more than to go on byte by byte.
  for (i += 1; i < text.length && text[i] !== QUOTE; i++) if (text[i] === BACKSLASH) i += 1
  return i
}

/**
 * How many values JSON text holds, lists and objects included, and at most one more than `most`: told by its commas and by
 * what opens something that is not empty, without parsing. Of text that is no JSON, some number.
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
