import type { MinimalLogger } from '../../base/logger.ts'
import { pause } from '../../base/waits.ts'
import type { Server, StopMode } from './server.ts'

/** Starts the server. If it rejects, because the start has failed or was aborted, nothing is left running. */
type StartServer = (signal: AbortSignal) => Promise<Server>

const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 2_000

const restart = async (start: StartServer, log: MinimalLogger, signal: AbortSignal): Promise<Server | undefined> => {
  for (let backoff = MIN_BACKOFF_MS; !signal.aborted; backoff = Math.min(2 * backoff, MAX_BACKOFF_MS)) {
    try {
      return await start(signal)
    } catch (error) {
      if (!signal.aborted) log.error({ err: error }, `PostgreSQL is down and does not start; next try in ${backoff} ms`)
      await pause(backoff, signal)
    }
  }
  return undefined
}

/**
 * Starts the server, and restarts it whenever it ends, until `stop`. Failed restarts are logged, and tried again with
 * exponential backoff.
 * @throws the error of the first start
 */
export const supervise = async (start: StartServer, log: MinimalLogger, starting: AbortSignal) => {
  const stopping = new AbortController()
  let server = await start(starting)
  const watch = async () => {
    for (;;) {
      const how = await server.ended
      if (stopping.signal.aborted) return
      log.error({ pid: server.pid, how }, 'PostgreSQL has ended, starting it again')
      const next = await restart(start, log, stopping.signal)
      if (!next) return
      server = next
      log.info({ pid: server.pid }, 'PostgreSQL is up again')
      // `stop` was called while the server was starting, and has stopped the previous one.
      if (stopping.signal.aborted) await server.stop('fast')
    }
  }
  const watched = watch()
  const stop = async (mode: StopMode = 'fast') => {
    stopping.abort()
    await Promise.all([server.stop(mode), watched])
  }
  return {
    /** The process id of the server; while it is down, of the last one. */
    pid: () => server.pid,
    stop,
  }
}
