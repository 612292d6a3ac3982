const QUOTE = 0x22
const BACKSLASH = 0x5c
/** The characters after a backslash, by their codes. */
const ESCAPED = new Map(
  Object.entries({ a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }).map(([name, code]) => [name.charCodeAt(0), code]),
)

const isOctal = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x37

/**
 * A path as git prints it in lines of text: between quotation marks, as in C, if it contains a control character, a quotation mark or a backslash. What is no
 * UTF-8 is U+FFFD.
 */
export const unquotedPath = (printed: Buffer): string => {
  if (printed[0] !== QUOTE || printed.at(-1) !== QUOTE) return printed.toString('utf8')
  const bytes: number[] = []
  for (let i = 1; i < printed.length - 1; i++) {
    const next = printed[i + 1]!
    if (printed[i] !== BACKSLASH) bytes.push(printed[i]!)
    else if (isOctal(next)) {
      bytes.push(Number.parseInt(printed.toString('latin1', i + 1, i + 4), 8))
      i += 3
    } else {
      bytes.push(ESCAPED.get(next) ?? next)
      i += 1
    }
  }
  return Buffer.from(bytes).toString('utf8')
}
