import type { Evidence } from '../../contract/attribution.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How far clocks may differ. */
export const TOLERANCE = MINUTE
/** How long after the author date a call may be, if the commit was amended. */
const MOST_LATE = 7 * DAY
const OLDEST = 30 * DAY

/** What a line weighs that so many sessions wrote; one of more weighs nothing. */
export const WEIGHTS = [0, 12, 6, 4, 3]
/** A line of more sessions than this weighs nothing. */
export const MOST_SESSIONS = WEIGHTS.length - 1

/** A kind of stretch: how old its calls may be, and how much it has to weigh. */
export type Kind = {
  readonly evidence: Evidence
  readonly isLate: boolean
  readonly oldest: number
  readonly weight: number
}

const early = { isLate: false }
const late = { isLate: true, oldest: 0 }

/** From the strongest on; `RANKS` has the same order. */
export const KINDS: readonly Kind[] = [
  { evidence: 'replaced', ...early, oldest: OLDEST, weight: 0 },
  { evidence: 'replaced', ...late, weight: 0 },
  { evidence: 'run', ...early, oldest: DAY, weight: 12 },
  { evidence: 'run', ...early, oldest: 2 * DAY, weight: 48 },
  { evidence: 'run', ...early, oldest: OLDEST, weight: 240 },
  { evidence: 'run', ...late, weight: 48 },
  { evidence: 'moved', ...early, oldest: 2 * DAY, weight: 60 },
]
export const RANKS: Readonly<Record<Evidence, number>> = { replaced: 0, run: 1, moved: 2 }

/** The dates of a hunk. */
export type Times = { readonly at: number; readonly until: number }

/** Whether a call may be in a stretch of a kind: by its time, and by whether it wrote the same file. */
export const isUsable = (time: number, isSame: boolean, kind: Kind, { at, until }: Times): boolean => {
  if (isSame !== (kind.evidence !== 'moved')) return false
  const distance = time - at
  if (kind.isLate) return distance > TOLERANCE && distance <= MOST_LATE && time <= until + TOLERANCE
  return distance <= TOLERANCE && distance >= -kind.oldest
}
