import { setTimeout } from 'node:timers/promises'

/** Far longer than any condition takes, also on a busy machine. */
const LONG_MS = 100_000

/** Waits until the condition holds. @throws Error with its name if it never does */
export const soon = async (otherwise: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
  const end = performance.now() + LONG_MS
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${otherwise} for ${LONG_MS / 1_000} s`)
    await setTimeout(10)
  }
}
