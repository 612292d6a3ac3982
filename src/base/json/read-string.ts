import type { Steps } from './steps.ts'

/** How many characters are read in a step. */
const STEP = 256 * 1024
const LONGEST_ESCAPE = 6

/** Where text that begins at `start` may be cut at or shortly before `end`: not within an escape. */
const cutBefore = (json: string, start: number, end: number): number => {
  const backslash = json.lastIndexOf('\\', end - 1)
  if (backslash < start || end - backslash >= LONGEST_ESCAPE) return end
  let before = backslash
  while (before > start && json[before - 1] === '\\') before -= 1
  const beginsEscape = (backslash - before) % 2 === 0
  const length = json[backslash + 1] === 'u' ? LONGEST_ESCAPE : 2
  return beginsEscape && backslash + length > end ? backslash : end
}

/** The text of a JSON string, however long it is. */
export function* readString(json: string, step = STEP): Steps<string> {
  let text = ''
  const last = json.length - 1
  for (let start = 1; start < last;) {
    const end = start + step < last ? cutBefore(json, start, start + step) : last
    text += JSON.parse(`"${json.slice(start, end)}"`) as string
    start = end
    if (start < last) yield
  }
  return text
}
