import { pause } from '../../base/waits.ts'

/** Changes are handled after this long without another change, but after the maximum in any case. Milliseconds. */
const QUIET_MS = 100
const LONGEST_MS = 500

type Bell = {
  readonly ring: () => void
  /**
   * Resolves when it was rung since the last call and the ringing has stopped for a moment or lasted too long; at once when the
   * signal is aborted.
   */
  readonly rung: () => Promise<void>
}

/** Turns a burst of rings into one. */
const newBell = (signal: AbortSignal): Bell => {
  let rings = 0
  let wake = () => {}
  signal.addEventListener('abort', () => wake(), { once: true })
  const firstRing = () =>
    new Promise<void>((resolve) => {
      wake = resolve
      if (rings > 0 || signal.aborted) resolve()
    })
  return {
    ring: () => {
      rings++
      wake()
    },
    rung: async () => {
      await firstRing()
      const latest = performance.now() + LONGEST_MS
      for (let before = -1; before !== rings && performance.now() < latest && !signal.aborted;) {
        before = rings
        await pause(QUIET_MS, signal)
      }
      rings = 0
    },
  }
}

/** Two clocks, in milliseconds: one that only goes forward, and may stop while the machine sleeps; and the time of day. */
type Clocks = { readonly monotonic: number; readonly wall: number }

const readClocks = (): Clocks => ({ monotonic: performance.now(), wall: Date.now() })

/**
 * For a timer that is to fire every `periodMs`: whether it fired much later than that, or the time of day has jumped. Then
 * the machine has slept, the process was stopped, or the clock was set, and notifications of the system may be lost.
 */
export const newLatenessCheck = (periodMs: number, start: Clocks): ((now: Clocks) => boolean) => {
  let last = start
  return (now) => {
    const passed = now.monotonic - last.monotonic
    const isLate = passed > 2 * periodMs || Math.abs(now.wall - last.wall - passed) > periodMs
    last = now
    return isLate
  }
}

/** The paths that the system has reported as changed, and whether everything has to be scanned. */
type Due = { readonly paths: readonly string[]; readonly isScan: boolean }

type Agenda = {
  readonly onPath: (path: string) => void
  /** Schedules the next scan of everything, instead of the one that was scheduled before. */
  readonly scanIn: (ms: number) => void
  /** Something else is due after this time. */
  readonly dueIn: (ms: number) => void
  /** Resolves when something is due, or the signal is aborted. */
  readonly isDue: () => Promise<void>
  readonly take: () => Due
  /** Waits; ends early if the machine has slept meanwhile or the signal is aborted. */
  readonly wait: (ms: number) => Promise<void>
  readonly close: () => void
}

const HEARTBEAT_MS = 5_000
/** The maximum number of reported paths. Beyond it, a scan finds the changes. */
const MOST_PATHS = 10_000

/** Collects reported changes. A scan is due at first, and whenever the machine has slept or the process was stopped. */
export const newAgenda = (signal: AbortSignal): Agenda => {
  const bell = newBell(signal)
  const paths = new Set<string>()
  let isScan = true
  let scanTimer: NodeJS.Timeout | undefined
  let dueTimer: NodeJS.Timeout | undefined
  let waking = new AbortController()
  const scanNow = () => {
    isScan = true
    bell.ring()
  }
  const isLate = newLatenessCheck(HEARTBEAT_MS, readClocks())
  const heartbeat = setInterval(() => {
    if (!isLate(readClocks())) return
    waking.abort()
    scanNow()
  }, HEARTBEAT_MS)
  return {
    onPath: (path) => {
      if (paths.size < MOST_PATHS) paths.add(path)
      else isScan = true
      bell.ring()
    },
    scanIn: (ms) => {
      clearTimeout(scanTimer)
      scanTimer = setTimeout(scanNow, ms)
    },
    dueIn: (ms) => {
      clearTimeout(dueTimer)
      dueTimer = setTimeout(bell.ring, ms)
    },
    isDue: bell.rung,
    take: () => {
      const due = { paths: [...paths], isScan }
      paths.clear()
      isScan = false
      return due
    },
    wait: async (ms) => {
      waking = new AbortController()
      await pause(ms, AbortSignal.any([signal, waking.signal]))
    },
    close: () => {
      clearTimeout(scanTimer)
      clearTimeout(dueTimer)
      clearInterval(heartbeat)
    },
  }
}
