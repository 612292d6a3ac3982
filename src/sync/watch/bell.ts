import { setTimeout } from 'node:timers/promises'

/** How long nothing may happen until what has happened is looked at, and how long that is put off at most, in milliseconds. */
const QUIET_MS = 100
const LONGEST_MS = 500

export type Bell = {
  readonly ring: () => void
  /**
   * Resolves once it was rung since the last call, after the ringing has stopped for a moment, or goes on for too long; at once
   * when the signal is aborted.
   */
  readonly rung: () => Promise<void>
}

/** Gathers what comes in bursts, so that it is handled once. */
export const newBell = (signal: AbortSignal): Bell => {
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
