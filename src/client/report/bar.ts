import { clearLine, cursorTo } from 'node:readline'
import { MultiBar, Presets } from 'cli-progress'
import { countText } from '../../base/for-people.ts'
import { clockText } from '../../cli/time-text.ts'
import { countOf } from './text.ts'

/** How far a run is. `done` is from 0 to 1. */
type BarState = {
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
  const count = countOf(messages, 'message')
  const speed = rate > 0 ? `${countText(rate)}/s` : ''
  const left = secondsLeft === undefined ? '' : `${clockText(secondsLeft)} left`
  const chosen = fitting([percent, left, speed, count], width)
  const text = [percent, count, speed, left].filter((piece) => chosen.has(piece)).join(GAP)
  const room = Math.min(MAX_BAR, width - text.length - GAP.length)
  return room < MIN_BAR ? text : `${barOf(done, room)}${GAP}${text}`
}

/** A progress bar on the last line of a terminal. */
export type Bar = {
  /** Adds processed bytes and stored messages. */
  readonly advance: (bytes: number, messages: number) => void
  /** Prints text that ends with a line break, on any stream of the same terminal, above the bar. */
  readonly print: (stream: NodeJS.WriteStream, text: string) => void
  /** Takes the bar away. */
  readonly stop: () => void
}

const FPS = 10
/** Rate and time left are those of the last ten seconds. */
const WINDOW = 10 * FPS

/** Messages a second, from the counts of the last ten seconds. */
const newRate = () => {
  const samples: { readonly at: number; readonly messages: number }[] = []
  return (messages: number): number => {
    samples.push({ at: performance.now(), messages })
    if (samples.length > WINDOW) samples.shift()
    const [first, last] = [samples[0]!, samples.at(-1)!]
    return last.at === first.at ? 0 : Math.round(((last.messages - first.messages) * 1_000) / (last.at - first.at))
  }
}

/**
 * Shows the progress through `total` bytes. Nothing is drawn for a run that ends within a tenth of a second. The width is looked
 * up each time, so that the bar follows a window that is resized. It has no colours, and leaves the cursor and signals alone.
 */
export const newBar = (stream: NodeJS.WriteStream, total: number): Bar => {
  let [bytes, messages, rate] = [0, 0, 0]
  let isStopped = false
  const rateOf = newRate()
  const format = (
    _options: unknown,
    { progress, eta, maxWidth }: { progress: number; eta: number; maxWidth: number },
  ) =>
    // cli-progress says 'INF' and the like where it knows no time. The last column stays free, or the terminal would wrap.
    barLine({ done: progress, messages, rate, secondsLeft: Number.isFinite(eta) ? eta : undefined }, maxWidth - 1)
  // Not its SingleBar, which moves the cursor back to where it was at the start: over lines that were printed meanwhile.
  const bars = new MultiBar(
    { format, stream, fps: FPS, etaBuffer: WINDOW, linewrap: true, forceRedraw: true, clearOnComplete: true },
    Presets.rect,
  )
  const bar = bars.create(total, 0)
  bars.on('update-pre', () => {
    rate = rateOf(messages)
    bar.update(Math.min(bytes, total))
  })
  return {
    advance: (moreBytes, moreMessages) => {
      bytes += moreBytes
      messages += moreMessages
    },
    print: (to, text) => {
      if (!isStopped) {
        cursorTo(stream, 0)
        clearLine(stream, 0)
      }
      to.write(text)
      if (!isStopped) bars.update()
    },
    stop: () => {
      if (isStopped) return
      isStopped = true
      bars.stop()
    },
  }
}
