import type { AttributedLines, Evidence, Hunk } from '../../contract/attribution.ts'
import { type WrittenFile, type Writers, byTime } from './calls.ts'
import { KINDS, type Kind, RANKS, WEIGHTS, isUsable } from './kinds.ts'
import { isSameRepository, sameFileAs } from './places.ts'

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

/** A call that may have written lines of a hunk. */
type Writer = {
  readonly file: WrittenFile
  /** The number of its session in the hunk. */
  readonly session: number
  /** The kinds of stretches that it may be in: a bit for each, by its place in `KINDS`. */
  readonly kinds: number
}

/** A line that is not weak: its index in the hunk, what it weighs, and the calls that may have written it, in the order of time. */
type Line = { readonly index: number; readonly weight: number; readonly writers: readonly Writer[] }

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

/** Looks at each call once, and leaves out those that may be in no stretch. */
const newWriters = (hunk: Hunk, { repositories, now }: Known) => {
  const at = hunk.at ?? now
  const times = { at, until: hunk.until ?? at }
  const isSameAs = sameFileAs(hunk)
  const sessions = new Map<string, number>()
  const writers = new Map<WrittenFile, Writer>()
  const writerOf = (file: WrittenFile): Writer => {
    const isSame = isSameRepository(file, repositories) && isSameAs(file)
    const kinds = KINDS.reduce((bits, kind, i) => (isUsable(file.at, isSame, kind, times) ? bits | (1 << i) : bits), 0)
    const session = sessions.get(file.traceId) ?? sessions.size
    sessions.set(file.traceId, session)
    return { file, session, kinds }
  }
  return (files: readonly WrittenFile[]): Writer[] => {
    const some: Writer[] = []
    for (const file of files) {
      let writer = writers.get(file)
      if (!writer) writers.set(file, (writer = writerOf(file)))
      if (writer.kinds !== 0) some.push(writer)
    }
    return some
  }
}

/** Consecutive lines that one session wrote: the index of the first one in the list, and of each line the latest call that may have written it. */
type Stretch = {
  readonly first: number
  readonly files: WrittenFile[]
  weight: number
  hasReplaced: boolean
}

type Found = {
  readonly lines: readonly Line[]
  /** The best proposal for each line, by its place in the list. */
  readonly best: (Proposal | undefined)[]
  readonly hasReplaced: (file: WrittenFile) => boolean
  /** Awaited again and again, so that other work of the event loop gets its turn. */
  readonly turn: () => Promise<void>
}

const propose = (kind: Kind, { first, files }: Stretch, best: Found['best']): void => {
  for (const [i, file] of files.entries()) {
    const proposal = { kind, length: files.length, file }
    if (isBetter(proposal, best[first + i])) best[first + i] = proposal
  }
}

const isProven = ({ evidence, weight }: Kind, stretch: Stretch): boolean =>
  evidence === 'replaced' ? stretch.hasReplaced : stretch.weight >= weight

/** Looks for stretches of a kind, and proposes what is proven. */
const proposeAll = async (kind: Kind, { lines, best, hasReplaced, turn }: Found): Promise<void> => {
  const bit = 1 << KINDS.indexOf(kind)
  let open = new Map<number, Stretch>()
  const close = async () => {
    for (const stretch of open.values()) {
      if (!isProven(kind, stretch)) continue
      propose(kind, stretch, best)
      await turn()
    }
  }
  for (const [i, { weight, writers }] of lines.entries()) {
    const next = new Map<number, Stretch>()
    for (const { file, session, kinds } of writers) {
      if ((kinds & bit) === 0) continue
      let stretch = next.get(session)
      if (!stretch) {
        stretch = open.get(session) ?? { first: i, files: [], weight: 0, hasReplaced: false }
        open.delete(session)
        next.set(session, stretch)
        stretch.weight += weight
      }
      stretch.files[i - stretch.first] = file
      if (kind.evidence === 'replaced') stretch.hasReplaced ||= hasReplaced(file)
    }
    await close()
    open = next
    await turn()
  }
  await close()
}

/** The best proposal for each of the lines. */
const proposalsFor = async (hunk: Hunk, known: Known, lines: readonly Line[], turn: Found['turn']) => {
  const removed = new Set(hunk.removed?.filter((hash) => hash !== ''))
  const hasReplaced = once((file) => !known.replaced(file).isDisjointFrom(removed))
  const best: Found['best'] = lines.map(() => undefined)
  const possible = lines.reduce((bits, { writers }) => writers.reduce((all, { kinds }) => all | kinds, bits), 0)
  for (const [i, kind] of KINDS.entries()) {
    if ((possible & (1 << i)) === 0 || (kind.evidence === 'replaced' && removed.size === 0)) continue
    await proposeAll(kind, { lines, best, hasReplaced, turn })
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

const rangesOf = (lines: readonly Line[], best: Found['best'], start: number): Match[] => {
  const ranges: Match[] = []
  let last: Match | undefined
  for (const [i, { index }] of lines.entries()) {
    const proposal = best[i]
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

/** The lines that are not weak, with their writers. */
const linesOf = async (hunk: Hunk, known: Known, turn: Found['turn']): Promise<Line[]> => {
  const writersIn = newWriters(hunk, known)
  const lines: Line[] = []
  for (const [index, hash] of hunk.added.entries()) {
    if (hash === '') continue
    const writers = writersIn(known.writers.get(hash) ?? [])
    lines.push({ index, writers, weight: WEIGHTS[known.sessions(hash)] ?? 0 })
    await turn()
  }
  return lines
}

/**
 * Which calls wrote the lines of a hunk. What cannot be shown is unknown.
 * @param turn is awaited again and again: a hunk of 5,000 lines, each of which 80 calls wrote, takes a while
 */
export const matchHunk = async (hunk: Hunk, known: Known, turn: () => Promise<void>): Promise<HunkMatches> => {
  const { added, start = 1 } = hunk
  const lines = await linesOf(hunk, known, turn)
  const best = await proposalsFor(hunk, known, lines, turn)
  const ranges = rangesOf(lines, best, start)
  const counted = { replaced: 0, run: 0, moved: 0 }
  let unknown = 0
  for (const proposal of best)
    if (proposal) counted[proposal.kind.evidence] += 1
    else unknown += 1
  return {
    ranges,
    unknown: gapsBetween(ranges, start, start + added.length - 1),
    lines: { total: added.length, weak: added.length - lines.length, ...counted, unknown },
  }
}
