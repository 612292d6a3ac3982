import { io } from '../../cli/io.ts'
import { Presets, SingleBar } from 'cli-progress'
import { atMostEvery } from '../../cli/output.ts'
import { clockText } from '../../cli/time-text.ts'
import { percentDone } from '../../base/for-people.ts'

/** The progress of work on the log, on stderr: a bar on a terminal, else lines. */
type Progress = {
  /** `events` more events are done, up to `position`; the work ends at `goal`. */
  advance(events: number, position: bigint, goal: bigint): void
  /** Removes the bar, so that other lines can follow. */
  stop(): void
}

const LINE_MS = 2_000

/** The rate in events per second, and the remaining time at this rate, estimated from positions. */
const measured = (events: number, ms: number, percent: number) => {
  const left = percent === 0 ? '?' : clockText(((ms / 1_000) * (100 - percent)) / percent)
  return { rate: Math.round(events / Math.max(ms / 1_000, 0.001)), left }
}

const newLines = (label: string, err: NodeJS.WriteStream): Progress => {
  const started = performance.now()
  let events = 0
  const print = atMostEvery(LINE_MS, (position: bigint, goal: bigint) => {
    const percent = percentDone(0n, position, goal)
    const { rate, left } = measured(events, performance.now() - started, percent)
    err.write(`${label}: ${percent} %, ${events} events, ${rate}/s, ${left} left\n`)
  })
  const advance: Progress['advance'] = (more, position, goal) => {
    events += more
    print(position, goal)
  }
  return { advance, stop: () => {} }
}

const newBar = (label: string, err: NodeJS.WriteStream): Progress => {
  const format = `${label} {bar} {percentage} %  {events} events, {rate}/s, {left} left`
  const bar = new SingleBar(
    { format, stream: err, linewrap: true, hideCursor: false, clearOnComplete: true },
    Presets.rect,
  )
  const started = performance.now()
  let events = 0
  let isStopped = false
  bar.start(100, 0, { events, rate: 0, left: '?' })
  const advance: Progress['advance'] = (more, position, goal) => {
    events += more
    if (isStopped) return
    const percent = percentDone(0n, position, goal)
    bar.update(percent, { events, ...measured(events, performance.now() - started, percent) })
  }
  const stop = () => {
    if (!isStopped) bar.stop()
    isStopped = true
  }
  return { advance, stop }
}

export const newProgress = (label: string, err: NodeJS.WriteStream = io().stderr): Progress =>
  err.isTTY ? newBar(label, err) : newLines(label, err)
