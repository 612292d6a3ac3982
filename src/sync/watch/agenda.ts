import { setTimeout } from 'node:timers/promises'
import { newBell } from './bell.ts'
import { newLatenessCheck, readClocks } from './lateness.ts'

/** What is to be looked at: the paths of which the system has told, and whether everything is to be scanned. */
export type Due = { readonly paths: readonly string[]; readonly isScan: boolean }

export type Agenda = {
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
