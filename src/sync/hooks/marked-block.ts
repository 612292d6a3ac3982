/** Whole lines of a text: what is before them, the first of them, and what is behind them. */
export type MarkedBlock = { readonly before: string; readonly first: string; readonly after: string }

/** Where a line begins with `start`; -1 for nowhere. */
const lineWith = (text: string, start: string): number => {
  if (text.startsWith(start)) return 0
  const index = text.indexOf(`\n${start}`)
  return index < 0 ? -1 : index + 1
}

/** The first block that begins with a line that starts with `begin`, and ends with the line `end`. Undefined without one. */
export const markedBlock = (text: string, begin: string, end: string): MarkedBlock | undefined => {
  const from = lineWith(text, begin)
  const last = from < 0 ? -1 : text.indexOf(`\n${end}\n`, from)
  if (last < 0) return undefined
  return {
    before: text.slice(0, from),
    first: text.slice(from, text.indexOf('\n', from)),
    after: text.slice(last + end.length + 2),
  }
}
