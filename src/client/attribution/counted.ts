import type { AttributedLines, AttributedRange, CommitAnswer, Hunk } from '../api/attribution.ts'

/** A commit's numbers, as a record of it has them. */
export type Numbers = Pick<CommitAnswer, 'lines' | 'traces'>

/** What is known of a line. */
export type Known = { readonly isWeak: boolean; readonly range: AttributedRange | undefined }

/** Counts lines by evidence. Weak lines are weak, wherever they stand. */
export const countLines = (lines: Iterable<Known>): AttributedLines => {
  const sums = { total: 0, weak: 0, replaced: 0, run: 0, moved: 0, unknown: 0 }
  for (const { isWeak, range } of lines) {
    sums.total += 1
    sums[isWeak ? 'weak' : (range?.evidence ?? 'unknown')] += 1
  }
  return sums
}

/** What is known of each added line of a hunk, from the ranges of the answer for it. */
export function* linesOfHunk({ start = 1, added }: Hunk, ranges: readonly AttributedRange[]): Generator<Known, void> {
  let next = 0
  for (const [i, hash] of added.entries()) {
    while (next < ranges.length && ranges[next]!.end < start + i) next += 1
    const range = ranges[next]
    yield { isWeak: hash === '', range: range && range.start <= start + i ? range : undefined }
  }
}

type Counted = CommitAnswer['traces'][number]

/** Counts what several hunks have together; sessions with the most lines come first. */
export const countHunks = (hunks: readonly Hunk[], answers: readonly (readonly AttributedRange[])[]): Numbers => {
  const lines = hunks.flatMap((hunk, i) => [...linesOfHunk(hunk, answers[i] ?? [])])
  const traces = new Map<string, { trace: Counted['trace']; lines: { replaced: number; run: number } }>()
  for (const { isWeak, range } of lines) {
    if (isWeak || !range || range.evidence === 'moved') continue
    const { id, externalId } = range.trace
    const counted = traces.get(id) ?? { trace: { id, externalId }, lines: { replaced: 0, run: 0 } }
    counted.lines[range.evidence] += 1
    traces.set(id, counted)
  }
  const sumOf = ({ lines: { replaced, run } }: Counted) => replaced + run
  return { lines: countLines(lines), traces: [...traces.values()].sort((a, b) => sumOf(b) - sumOf(a)) }
}
