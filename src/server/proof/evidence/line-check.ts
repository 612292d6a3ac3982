import { comparedLine, isWeakLine, splitLines } from '../../../base/compared-lines.ts'
import type { EvidenceCommit, EvidenceRange } from '../../../contract/evidence.ts'
import { BadEvidence } from './bad-evidence.ts'
import { type PassedEvent, isShown } from './check-event.ts'

/** The lines of a range, from its start to its end, as its commit has them; fewer or undefined if the commit does not have them all. */
export type LinesOfRange = (commit: EvidenceCommit, range: EvidenceRange) => readonly string[] | undefined

/** How many lines of ranges are not weak, and of how many of them the text was found in an event. */
export type LineCount = { readonly checked: number; readonly of: number }

/** All strings in a JSON value but the names of members. Without recursion, because a forged value may be nested as deep as it likes. */
function* stringsIn(value: unknown): Generator<string, void> {
  const rest = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    if (typeof next === 'string') yield next
    else if (typeof next === 'object' && next !== null) for (const member of Object.values(next)) rest.push(member)
  }
}

/** Decoders differ in how many U+FFFD they make of a sequence that is not UTF-8, so several in a row count as one. */
const lineIn = (text: string): string => comparedLine(text).replace(/\uFFFD+/g, '\uFFFD')

/** The lines that an event has written, as they are compared: also without the plus sign that they have in a patch. */
const writtenIn = (data: unknown): ReadonlySet<string> => {
  const written = new Set<string>()
  for (const text of stringsIn(data))
    for (const line of splitLines(text)) {
      const compared = lineIn(line)
      written.add(compared)
      if (compared.startsWith('+')) written.add(compared.slice(1))
    }
  return written
}

/** The lines of a range that are in none of its events so far: their numbers, by the text that is compared. */
type Sought = { readonly lines: Map<string, number[]>; readonly of: number; isPartlyWithheld: boolean }

const placeOf = (line: number, { path }: EvidenceRange, { sha }: EvidenceCommit) => `line ${line} of ${path} in ${sha}`

const soughtIn = (commit: EvidenceCommit, range: EvidenceRange, linesOf: LinesOfRange): Sought => {
  const { start, end } = range
  const texts = linesOf(commit, range) ?? []
  if (texts.length !== end - start + 1)
    throw new BadEvidence(5, placeOf(start + texts.length, range, commit), 'the commit has no such line')
  const lines = new Map<string, number[]>()
  let of = 0
  for (const [i, text] of texts.entries()) {
    const compared = lineIn(text)
    if (isWeakLine(compared)) continue
    of += 1
    const numbers = lines.get(compared)
    if (numbers) numbers.push(start + i)
    else lines.set(compared, [start + i])
  }
  return { lines, of, isPartlyWithheld: false }
}

/** Looks for the lines of ranges in events. */
export type LineCheck = {
  /** Takes the events of the file, in their order. */
  event(place: number, passed: PassedEvent): void
  /** @throws BadEvidence for a line that is in none of the events of its range, unless one of these is withheld */
  end(): LineCount
}

/** Step 5, the part for which the repository is needed. What it holds are the lines of ranges. @throws BadEvidence for a line that a commit does not have */
export const newLineCheck = (commits: readonly EvidenceCommit[], linesOf: LinesOfRange): LineCheck => {
  const ranges = commits.flatMap((commit) =>
    commit.ranges.map((range) => ({ commit, range, sought: soughtIn(commit, range, linesOf) })),
  )
  const byEvent = new Map<number, Sought[]>()
  for (const { range, sought } of ranges)
    for (const place of new Set(range.events)) {
      const others = byEvent.get(place)
      if (others) others.push(sought)
      else byEvent.set(place, [sought])
    }

  const event = (place: number, { event, data }: PassedEvent) => {
    const waiting = byEvent.get(place)
    if (!waiting) return
    const written = isShown(event) ? writtenIn(data) : undefined
    for (const sought of waiting)
      if (!written) sought.isPartlyWithheld = true
      else for (const line of sought.lines.keys()) if (written.has(line)) sought.lines.delete(line)
  }

  const end = () => {
    let [checked, all] = [0, 0]
    for (const { commit, range, sought } of ranges) {
      const missing = [...sought.lines.values()].flat()
      if (missing.length > 0 && !sought.isPartlyWithheld)
        throw new BadEvidence(
          5,
          placeOf(Math.min(...missing), range, commit),
          'it is in none of the events of its range',
        )
      checked += sought.of - missing.length
      all += sought.of
    }
    return { checked, of: all }
  }

  return { event, end }
}
