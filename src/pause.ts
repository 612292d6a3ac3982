import { setTimeout } from 'node:timers/promises'

/** Resolves after `ms`, or earlier when the signal aborts. Never rejects. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  setTimeout(ms, undefined, signal ? { signal } : {}).catch(() => {})
