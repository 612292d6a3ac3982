import type { AttributedLines, Evidence, Hunk } from '../../contract/attribution.ts'
import { type WrittenFile, type Writers, byTime } from './calls.ts'
import { isSameFile, isSameRepository } from './places.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How far clocks may differ. */
export const TOLERANCE = MINUTE
/** How long after the author date a call may be, if the commit was amended. */
const MOST_LATE = 7 * DAY
const OLDEST = 30 * DAY

/** What a line weighs that so many sessions wrote; one of more weighs nothing. */
const WEIGHTS = [0, 12, 6, 4, 3]
/** A line of more sessions than this weighs nothing. */
export const MOST_SESSIONS = WEIGHTS.length - 1

/** A kind of stretch: how old its calls may be, and how much it has to weigh. */
type Kind = {
  readonly evidence: Evidence
  readonly isLate: boolean
  readonly oldest: number
  readonly weight: number
}

const early = { isLate: false }
const late = { isLate: true, oldest: 0 }

/** From the strongest on; `RANKS` has the same order. */
const KINDS: readonly Kind[] = [
  { evidence: 'replaced', ...early, oldest: OLDEST, weight: 0 },
  { evidence: 'replaced', ...late, weight: 0 },
  { evidence: 'run', ...early, oldest: DAY, weight: 12 },
  { evidence: 'run', ...early, oldest: 2 * DAY, weight: 48 },
  { evidence: 'run', ...early, oldest: OLDEST, weight: 240 },
  { evidence: 'run', ...late, weight: 48 },
  { evidence: 'moved', ...early, oldest: 2 * DAY, weight: 60 },
]
const RANKS: Readonly<Record<Evidence, number>> = { replaced: 0, run: 1, moved: 2 }

/** What the lines of a question may be compared with. */
export type Known = {
  readonly writers: Writers
  /** How many sessions wrote a line, in any file and at any time. */
  readonly sessions: (line: string) => number
  /** The lines that a call replaced in a file. */
  readonly replaced: (file: WrittenFile) => ReadonlySet<string>
  /** The names of the repositories that are asked about. */
  readonly repositories: ReadonlySet<string>
  /** The time of lines that are not committed. */
  readonly now: number
}

/** A line that is not weak: its index in the hunk, and the calls that may have written it. */
type Line = { readonly index: number; readonly hash: string; readonly writers: readonly Writer[] }
type Writer = { readonly file: WrittenFile; readonly isSame: boolean }

/** A call that may have written a line, with what speaks for it. */
type Proposal = { readonly kind: Kind; readonly length: number; readonly file: WrittenFile }

/** Whether the first proposal is better. */
const isBetter = (a: Proposal, b: Proposal | undefined): boolean => {
  if (!b) return true
  const order =
    RANKS[b.kind.evidence] - RANKS[a.kind.evidence] ||
    Number(b.kind.isLate) - Number(a.kind.isLate) ||
    a.length - b.length ||
    byTime(a.file, b.file)
  return order > 0
}

type Times = { readonly at: number; readonly until: number }

const isUsable = ({ file, isSame }: Writer, kind: Kind, { at, until }: Times): boolean => {
  if (isSame !== (kind.evidence !== 'moved')) return false
  const distance = file.at - at
  if (kind.isLate) return distance > TOLERANCE && distance <= MOST_LATE && file.at <= until + TOLERANCE
  return distance <= TOLERANCE && distance >= -kind.oldest
}

/** Consecutive lines that one session wrote, with the calls that may have written each. */
type Stretch = { readonly lines: { readonly line: Line; readonly files: readonly WrittenFile[] }[] }

function* stretchesOf(lines: readonly Line[], isPossible: (writer: Writer) => boolean): Generator<Stretch> {
  let open = new Map<string, Stretch>()
  for (const line of lines) {
    const bySession = Map.groupBy(
      line.writers.filter(isPossible).map(({ file }) => file),
      ({ traceId }) => traceId,
    )
    const next = new Map<string, Stretch>()
    for (const [session, files] of bySession) {
      const stretch = open.get(session) ?? { lines: [] }
      stretch.lines.push({ line, files })
      next.set(session, stretch)
    }
    for (const [session, stretch] of open) if (!next.has(session)) yield stretch
    open = next
  }
  yield* open.values()
}

const weightOf = ({ lines }: Stretch, known: Known): number =>
  lines.reduce((sum, { line }) => sum + (WEIGHTS[known.sessions(line.hash)] ?? 0), 0)

const isProven = (stretch: Stretch, kind: Kind, hasReplaced: (file: WrittenFile) => boolean, known: Known): boolean => {
  if (kind.evidence !== 'replaced') return weightOf(stretch, known) >= kind.weight
  return stretch.lines.some(({ files }) => files.some(hasReplaced))
}

/** The best proposal for each line of a hunk, by its index. */
const proposalsFor = (hunk: Hunk, lines: readonly Line[], known: Known): Map<number, Proposal> => {
  const at = hunk.at ?? known.now
  const times = { at, until: hunk.until ?? at }
  const removed = new Set(hunk.removed?.filter((hash) => hash !== ''))
  const hasReplaced = once((file) => !known.replaced(file).isDisjointFrom(removed))
  const best = new Map<number, Proposal>()
  for (const kind of KINDS) {
    if (kind.evidence === 'replaced' && removed.size === 0) continue
    for (const stretch of stretchesOf(lines, (writer) => isUsable(writer, kind, times))) {
      if (!isProven(stretch, kind, hasReplaced, known)) continue
      for (const { line, files } of stretch.lines) {
        const file = files.reduce((a, b) => (byTime(b, a) > 0 ? b : a))
        const proposal = { kind, length: stretch.lines.length, file }
        if (isBetter(proposal, best.get(line.index))) best.set(line.index, proposal)
      }
    }
  }
  return best
}

/** Lines that one call wrote: their numbers, and how many of them have this evidence. */
export type Match = {
  readonly start: number
  readonly end: number
  readonly evidence: Evidence
  readonly file: WrittenFile
}

export type HunkMatches = {
  readonly ranges: readonly Match[]
  readonly unknown: readonly [number, number][]
  readonly lines: AttributedLines
}

const isSameRange = (range: Match | undefined, { kind, file }: Proposal): range is Match =>
  range?.evidence === kind.evidence && range.file === file

const rangesOf = (lines: readonly Line[], best: ReadonlyMap<number, Proposal>, start: number): Match[] => {
  const ranges: Match[] = []
  let last: Match | undefined
  for (const { index } of lines) {
    const proposal = best.get(index)
    const number = start + index
    if (!proposal) {
      last = undefined
      continue
    }
    if (isSameRange(last, proposal)) ranges.pop()
    else last = { start: number, end: number, evidence: proposal.kind.evidence, file: proposal.file }
    last = { ...last, end: number }
    ranges.push(last)
  }
  return ranges
}

/** The lines between ranges. */
const gapsBetween = (ranges: readonly Match[], start: number, end: number): [number, number][] => {
  const gaps: [number, number][] = []
  let next = start
  for (const range of ranges) {
    if (range.start > next) gaps.push([next, range.start - 1])
    next = range.end + 1
  }
  if (next <= end) gaps.push([next, end])
  return gaps
}

/** Remembers the answers: a call is looked at for each of its lines. */
const once = (ask: (file: WrittenFile) => boolean): ((file: WrittenFile) => boolean) => {
  const known = new Map<WrittenFile, boolean>()
  return (file) => {
    const answer = known.get(file) ?? ask(file)
    known.set(file, answer)
    return answer
  }
}

/** Which calls wrote the lines of a hunk. What cannot be shown is unknown. */
export const matchHunk = (hunk: Hunk, known: Known): HunkMatches => {
  const { added, start = 1 } = hunk
  const isSame = once((file) => isSameRepository(file, known.repositories) && isSameFile(file, hunk))
  const lines = added.flatMap((hash, index): Line[] => {
    if (hash === '') return []
    const writers = (known.writers.get(hash) ?? []).map((file) => ({ file, isSame: isSame(file) }))
    return [{ index, hash, writers }]
  })
  const best = proposalsFor(hunk, lines, known)
  const ranges = rangesOf(lines, best, start)
  const counted = { replaced: 0, run: 0, moved: 0 }
  for (const { kind } of best.values()) counted[kind.evidence] += 1
  const unknown = lines.length - best.size
  return {
    ranges,
    unknown: gapsBetween(ranges, start, start + added.length - 1),
    lines: { total: added.length, weak: added.length - lines.length, ...counted, unknown },
  }
}
