import { setImmediate } from 'node:timers/promises'

/** For how many milliseconds long work goes on before other work of the event loop does. */
const WORKING_MS = 8

/** To be awaited again and again during long work: lets other work go on once this has gone on for long. */
export const newYielding = (): (() => Promise<void>) => {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < WORKING_MS) return
    await setImmediate()
    since = performance.now()
  }
}
