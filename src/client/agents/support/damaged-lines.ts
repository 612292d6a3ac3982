import { type Json, parseObject } from './json.ts'

/** A record with the text that it was parsed from. */
type Found = { readonly text: string; readonly json: Json }

/**
 * The end of a value in a text, or the place where the text stops being JSON. There `next` is where another value may have been written, and
 * `inner` where the last object within the value begins, if nothing follows it.
 */
type Scan =
  | { readonly isWhole: true; readonly end: number }
  | { readonly isWhole: false; readonly next: number; readonly inner: number | undefined; readonly end: number }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const escapes = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
const literals = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const spaces = /[ \t\r\n]*/y

/** The index at which a sticky expression ends; `from` if it does not match there. */
const endOf = (expression: RegExp, text: string, from: number): number => {
  expression.lastIndex = from
  return expression.test(text) ? expression.lastIndex : from
}

/** The index after a string that begins at `from`, or of the first character that cannot be in it. */
const endOfString = (text: string, from: number): { readonly end: number; readonly isWhole: boolean } => {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return { end: at + 1, isWhole: true }
    if (code < 0x20) return { end: at, isWhole: false }
    if (code !== BACKSLASH) continue
    const end = endOf(escapes, text, at)
    if (end === at) return { end: at + 1, isWhole: false }
    at = end - 1
  }
  return { end: text.length, isWhole: false }
}

/** What may come next in an object or a list. */
type Expected = 'key or end' | 'key' | 'colon' | 'value or end' | 'value' | 'comma or end'

/** What was read last, if it is a string or ends an object, and where that begins. */
type Last = { readonly is: 'string' | 'object'; readonly from: number; readonly to: number } | undefined

/** Reads the parts of one object from `start` on, as strictly as `JSON.parse`. */
const newObjectReader = (text: string, start: number) => {
  const open: { readonly from: number; readonly isList: boolean }[] = []
  let expected: Expected = 'value'
  let at = start
  let last: Last

  const isInList = (): boolean => open.at(-1)?.isList === true
  const goOn = (to: number, next: Expected, read?: Last): true => {
    at = to
    expected = next
    last = read
    return true
  }
  const string = (): boolean => {
    if (expected === 'colon' || expected === 'comma or end') return false
    const { end: to, isWhole } = endOfString(text, at)
    if (isWhole) return goOn(to, expected.startsWith('key') ? 'colon' : 'comma or end', { is: 'string', from: at, to })
    at = to
    last = undefined
    return false
  }
  const begin = (): boolean => {
    const isList = text[at] === '['
    if (!expected.startsWith('value') || (!isList && text[at] !== '{')) return false
    open.push({ from: at, isList })
    return goOn(at + 1, isList ? 'value or end' : 'key or end')
  }
  const end = (): boolean => {
    if (!expected.endsWith('or end') || text[at] !== (isInList() ? ']' : '}')) return false
    const { from, isList } = open.pop()!
    return goOn(at + 1, 'comma or end', isList ? undefined : { is: 'object', from, to: at + 1 })
  }
  const separator = (): boolean => {
    if (text[at] === ':' && expected === 'colon') return goOn(at + 1, 'value')
    return text[at] === ',' && expected === 'comma or end' && goOn(at + 1, isInList() ? 'value' : 'key')
  }
  const literal = (): boolean => {
    const to = expected.startsWith('value') ? endOf(literals, text, at) : at
    return to > at && goOn(to, 'comma or end')
  }
  return {
    /** Reads one part; false if what comes next does not belong to the object. */
    read: (): boolean => {
      at = endOf(spaces, text, at)
      return text[at] === '"' ? string() : begin() || end() || separator() || literal()
    },
    isWhole: () => open.length === 0,
    at: () => at,
    last: () => last,
  }
}

/** Follows the object that begins at `start` to its end, or to the first character that does not belong to it. */
const scanObject = (text: string, start: number): Scan => {
  const reader = newObjectReader(text, start)
  while (reader.read()) if (reader.isWhole()) return { isWhole: true, end: reader.at() }
  const [end, last] = [reader.at(), reader.last()]
  // A record that was written in the middle of a string has ended this string with the quote of its first key.
  const inString = last?.is === 'string' ? text.lastIndexOf('{', last.to) : -1
  const next = last !== undefined && inString > last.from ? inString : text.indexOf('{', end)
  return {
    isWhole: false,
    end,
    next: next === -1 ? text.length : next,
    inner: last?.is === 'object' ? last.from : undefined,
  }
}

const firstKey = (text: string, at: number): string | undefined =>
  /^\{\s*"([^"\\]*)"/.exec(text.slice(at, at + 200))?.[1]

/**
 * The records in a line that is not one JSON object: several on one line, one behind the cut beginning of another one, one with something else
 * before or behind it. `isRecord` tells a record from an object within one that was cut. `lost` is how many bytes of the line belong to none.
 */
export const recordsIn = (
  line: string,
  isRecord: (json: Json) => boolean,
): { readonly records: readonly Found[]; readonly lost: number } => {
  const records: Found[] = []
  let [lost, kept] = [0, 0]
  const lose = (to: number) => void (lost += Buffer.byteLength(line.slice(kept, to).trim()))
  const take = (from: number, to: number): boolean => {
    const text = line.slice(from, to)
    const json = parseObject(text)
    if (!json || !isRecord(json)) return false
    lose(from)
    kept = to
    records.push({ text, json })
    return true
  }
  for (let at = line.indexOf('{'); at !== -1 && at < line.length;) {
    const scan = scanObject(line, at)
    if (scan.isWhole) {
      take(at, scan.end)
      at = line.indexOf('{', scan.end)
      continue
    }
    // A record that was written in place of a value looks like a part of the one that was cut there.
    const { inner, end, next } = scan
    if (inner !== undefined && firstKey(line, inner) === firstKey(line, at)) take(inner, end)
    at = next
  }
  lose(line.length)
  return { records, lost }
}
