import { setTimeout } from 'node:timers/promises'
import type { Log } from './log.ts'
import type { Server, StopMode } from './server.ts'

/** Brings the server up; rejects when it cannot or when aborted, and leaves nothing running then. */
export type Start = (signal: AbortSignal) => Promise<Server>

export type Supervised = {
  /** The process id of the present server, or of the last one while it is down. */
  pid(): number
  stop(mode?: StopMode): Promise<void>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

const again = async (start: Start, log: Log, signal: AbortSignal): Promise<Server | undefined> => {
  for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await start(signal)
    } catch (error) {
      if (!signal.aborted) log.error({ err: error }, `PostgreSQL is down, next try in ${pause} ms`)
      await setTimeout(pause, undefined, { signal }).catch(() => {})
    }
  }
  return undefined
}

/**
 * Starts the server, and again whenever it ends, until `stop`.
 * @throws what the first start throws; later ones are repeated with growing pauses and logged
 */
export const supervise = async (start: Start, log: Log, starting: AbortSignal): Promise<Supervised> => {
  const stopping = new AbortController()
  let server = await start(starting)
  const watch = async () => {
    for (;;) {
      const how = await server.ended
      if (stopping.signal.aborted) return
      log.error({ pid: server.pid, how }, 'PostgreSQL ended, starting it again')
      const next = await again(start, log, stopping.signal)
      if (!next) return
      server = next
      log.info({ pid: server.pid }, 'PostgreSQL is up again')
      // It may have come up in the very moment of the stop, which then has asked its predecessor.
      if (stopping.signal.aborted) await server.stop('fast')
    }
  }
  const watched = watch()
  const stop = async (mode: StopMode = 'fast') => {
    stopping.abort()
    await Promise.all([server.stop(mode), watched])
  }
  return { pid: () => server.pid, stop }
}
