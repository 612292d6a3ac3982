import { durationText } from '../../cli/duration-text.ts'

/** How far a run is. `done` is from 0 to 1. */
export type BarState = {
  readonly done: number
  readonly messages: number
  /** Messages a second, of late. */
  readonly rate: number
  /** Undefined while it is not known. */
  readonly secondsLeft: number | undefined
}

const GAP = '  '
const MIN_BAR = 8
const MAX_BAR = 40

const numberFormat = new Intl.NumberFormat('en-US')

const barOf = (done: number, width: number): string => {
  const filled = Math.floor(done * width)
  return `${'■'.repeat(filled)}${'·'.repeat(width - filled)}`
}

/** What fits into `width`, of pieces in the order in which they matter. */
const fitting = (pieces: readonly string[], width: number): ReadonlySet<string> => {
  const chosen = new Set<string>()
  let used = 0
  for (const piece of pieces) {
    const more = piece.length + (chosen.size > 0 ? GAP.length : 0)
    if (piece === '' || used + more > width) continue
    chosen.add(piece)
    used += more
  }
  return chosen
}

/**
 * The progress on one line of at most `width` columns: `■■■■····  42 %  1,234 messages  1,050/s  0:42 left`. What does not fit is
 * left out, the bar first.
 */
export const barLine = ({ done, messages, rate, secondsLeft }: BarState, width: number): string => {
  const percent = `${Math.floor(done * 100)} %`
  const count = `${numberFormat.format(messages)} message${messages === 1 ? '' : 's'}`
  const speed = rate > 0 ? `${numberFormat.format(rate)}/s` : ''
  const left = secondsLeft === undefined ? '' : `${durationText(secondsLeft)} left`
  const chosen = fitting([percent, left, speed, count], width)
  const text = [percent, count, speed, left].filter((piece) => chosen.has(piece)).join(GAP)
  const room = Math.min(MAX_BAR, width - text.length - GAP.length)
  return room < MIN_BAR ? text : `${barOf(done, room)}${GAP}${text}`
}
