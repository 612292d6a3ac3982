/** Values of valid JSON text as slices of it, so that numbers, order of keys and `__proto__` stay as they are written. */

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

const isEscaped = (text: string, quote: number): boolean => {
  let before = quote - 1
  while (text.charCodeAt(before) === BACKSLASH) before -= 1
  return (quote - before) % 2 === 0
}

/** The index behind the closing quote of the string that begins at `start`. */
const endOfString = (text: string, start: number): number => {
  let i = text.indexOf('"', start + 1)
  if (i < 0) return text.length
  if (!isEscaped(text, i)) return i + 1
  // Character by character from here on: a string with one escaped quote has often many, and each search would look back.
  for (i += 1; i < text.length && text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i += 1
  return i + 1
}

const isEnd = (code: number) => code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT || code <= 0x20

const endOfValue = (text: string, start: number): number => {
  const first = text.charCodeAt(start)
  if (first === QUOTE) return endOfString(text, start)
  let i = start
  if (first !== OPEN_LIST && first !== OPEN_OBJECT) {
    while (i < text.length && !isEnd(text.charCodeAt(i))) i += 1
    return i
  }
  for (let depth = 0; i < text.length;) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      i = endOfString(text, i)
      continue
    }
    i += 1
    if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1
    else if ((code === CLOSE_LIST || code === CLOSE_OBJECT) && (depth -= 1) === 0) return i
  }
  return i
}

/** The index of the next character that is no white space, comma or colon. */
const nextValue = (text: string, from: number): number => {
  let i = from
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x20 && code !== COMMA && code !== COLON) return i
  }
  return i
}

const isClosed = (text: string, offset: number): boolean => {
  const code = text.charCodeAt(offset)
  return offset >= text.length || code === CLOSE_LIST || code === CLOSE_OBJECT
}

/** A member of an object: its key, and its value as JSON text. */
export type RawMember = { readonly key: string; readonly value: string }

/** The members of an object in the order of its text; of any other value none. */
export function* rawMembers(text: string): Generator<RawMember, void> {
  const start = nextValue(text, 0)
  if (text.charCodeAt(start) !== OPEN_OBJECT) return
  for (let offset = nextValue(text, start + 1); !isClosed(text, offset);) {
    const keyEnd = endOfString(text, offset)
    const key = JSON.parse(text.slice(offset, keyEnd)) as string
    offset = nextValue(text, keyEnd)
    const end = endOfValue(text, offset)
    yield { key, value: text.slice(offset, end) }
    offset = nextValue(text, end)
  }
}

/** The items of a list; of any other value none. */
export function* rawItems(text: string): Generator<string, void> {
  const start = nextValue(text, 0)
  if (text.charCodeAt(start) !== OPEN_LIST) return
  for (let offset = nextValue(text, start + 1); !isClosed(text, offset);) {
    const end = endOfValue(text, offset)
    yield text.slice(offset, end)
    offset = nextValue(text, end)
  }
}
