import type { AttributedRange } from '../api/attribution.ts'
import type { Known } from './counted.ts'
import type { LineHash } from './hunks.ts'

/** A line of a file as it is now, and where it is in what is asked. */
export type LocatedLine = {
  readonly line: number
  /** The commit that it comes from; undefined if it is not committed. */
  readonly commit: string | undefined
  readonly hash: LineHash
  readonly text: string
  /** The hunk that added it, by its place in the question, and its number there; undefined for what cannot be asked for. */
  readonly added: { readonly hunk: number; readonly line: number } | undefined
}

/** Neighbouring lines of today that one commit has, and one call wrote; without `range` what is unknown. */
export type Span = {
  readonly start: number
  readonly end: number
  readonly commit: string | undefined
  readonly range: AttributedRange | undefined
}

/** What is known of each line, from the ranges of the hunks that were asked for. */
export const knownOf = (
  lines: readonly LocatedLine[],
  answers: readonly (readonly AttributedRange[])[],
): readonly Known[] =>
  lines.map(({ hash, added }) => ({
    isWeak: hash === '',
    range: added && answers[added.hunk]?.find(({ start, end }) => start <= added.line && added.line <= end),
  }))

const isSameCall = (one: AttributedRange | undefined, other: AttributedRange | undefined): boolean =>
  one === other ||
  (one?.evidence === other?.evidence &&
    one?.trace.id === other?.trace.id &&
    one?.message.externalId === other?.message.externalId &&
    one?.callId === other?.callId)

type Place = { readonly line: number; readonly commit: string | undefined } & Known

/** Neighbours that one commit has, and one call wrote. */
const grouped = (places: readonly Place[]): Place[][] => {
  const groups: Place[][] = []
  for (const place of places) {
    const last = groups.at(-1)
    const before = last?.at(-1)
    const joins = before && before.commit === place.commit && isSameCall(before.range, place.range)
    if (joins) last!.push(place)
    else groups.push([place])
  }
  return groups
}

/** A range begins and ends at a line that is not weak: what stands around it now need not have been written with it. */
const withoutWeakEnds = (group: readonly Place[]): readonly Place[] => {
  const first = group.findIndex(({ isWeak }) => !isWeak)
  const last = group.findLastIndex(({ isWeak }) => !isWeak)
  return group.map((place, i) => (first >= 0 && i >= first && i <= last ? place : { ...place, range: undefined }))
}

/** Lines of today as spans, ascending and without gaps. */
export const spansOf = (lines: readonly LocatedLine[], known: readonly Known[]): Span[] => {
  const places = lines.map(({ line, commit }, i) => ({ line, commit, ...known[i]! }))
  return grouped(grouped(places).flatMap(withoutWeakEnds)).map((group) => {
    const { line: start, commit, range } = group[0]!
    return { start, end: group.at(-1)!.line, commit, range }
  })
}
