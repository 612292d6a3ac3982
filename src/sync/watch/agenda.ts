import { setTimeout } from 'node:timers/promises'

/** How long nothing may happen until what has happened is looked at, and how long that is put off at most, in milliseconds. */
const QUIET_MS = 100
const LONGEST_MS = 500

type Bell = {
  readonly ring: () => void
  /**
   * Resolves once it was rung since the last call, after the ringing has stopped for a moment, or goes on for too long; at once
   * when the signal is aborted.
   */
  readonly rung: () => Promise<void>
}

/** Gathers what comes in bursts, so that it is handled once. */
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
        await setTimeout(QUIET_MS, undefined, { signal }).catch(() => {})
      }
      rings = 0
    },
  }
}

/** Two clocks, in milliseconds: one that only goes forward, and may stand still while the machine sleeps; and the time of day. */
type Clocks = { readonly monotonic: number; readonly wall: number }

const readClocks = (): Clocks => ({ monotonic: performance.now(), wall: Date.now() })

/**
 * For a timer that is to fire every `periodMs`: whether it fired much later than that, or the time of day has jumped. The machine
 * has slept, the process stood still, or the clock was set: what the system has told meanwhile may be lost.
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

/** What is to be looked at: the paths of which the system has told, and whether everything is to be scanned. */
type Due = { readonly paths: readonly string[]; readonly isScan: boolean }

type Agenda = {
  readonly onPath: (path: string) => void
  /** Has everything scanned in that time, and not at the time that was set before. */
  readonly scanIn: (ms: number) => void
  /** Resolves when something is due, or the signal is aborted. */
  readonly isDue: () => Promise<void>
  readonly take: () => Due
  /** Waits, but not on when the machine has slept meanwhile or the signal is aborted. */
  readonly wait: (ms: number) => Promise<void>
  readonly close: () => void
}

const HEARTBEAT_MS = 5_000
/** More of what the system tells is not kept: a scan finds it out. */
const MOST_PATHS = 10_000

/** Gathers what is to be looked at. A scan is due at first, and whenever the machine or the process has stood still. */
export const newAgenda = (signal: AbortSignal): Agenda => {
  const bell = newBell(signal)
  const paths = new Set<string>()
  let isScan = true
  let scanTimer: NodeJS.Timeout | undefined
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
      scanTimer = globalThis.setTimeout(scanNow, ms)
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
      await setTimeout(ms, undefined, { signal: AbortSignal.any([signal, waking.signal]) }).catch(() => {})
    },
    close: () => {
      clearTimeout(scanTimer)
      clearInterval(heartbeat)
    },
  }
}
