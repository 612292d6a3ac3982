/** Two clocks, in milliseconds: one that only goes forward, and may stand still while the machine sleeps; and the time of day. */
export type Clocks = { readonly monotonic: number; readonly wall: number }

export const readClocks = (): Clocks => ({ monotonic: performance.now(), wall: Date.now() })

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
