import { folded } from '../../../base/folded.ts'
import { normalForm } from '../../../base/normal-form.ts'

/** How much of a text is searched at once: in the worst case this takes time in proportion to its length times that of `wanted`. */
const SLICE = 8 * 1024

/** Yields for each slice of a text how often `wanted`, a text in its `comparable` form, occurs in it. Occurrences do not overlap. */
export function* occurrences(given: string, wanted: string): Generator<number, void> {
  const text = normalForm(given)
  for (let start = 0; start + wanted.length <= text.length;) {
    const end = start + SLICE
    const slice = folded(text.slice(start, end + wanted.length - 1))
    let [count, next] = [0, end]
    for (let at = slice.indexOf(wanted); at >= 0; at = slice.indexOf(wanted, at + wanted.length)) {
      count += 1
      next = Math.max(end, start + at + wanted.length)
    }
    yield count
    start = next
  }
}
