import type { IncomingMessage } from 'node:http'

const MOST_BYTES = 64 * 1024 * 1024
const MOST_MS = 5_000

/**
 * Reads what a client still sends of a body that is refused already, within bounds. A connection that is closed while
 * the client writes is reset, and the answer that says why is lost with it.
 */
export const drain = (request: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    if (request.readableEnded || request.destroyed) return resolve()
    let bytes = 0
    const count = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MOST_BYTES) done()
    }
    const done = () => {
      clearTimeout(timer)
      request.off('data', count).off('end', done).off('close', done).off('error', done)
      resolve()
    }
    const timer = setTimeout(done, MOST_MS)
    request.on('data', count).on('end', done).on('close', done).on('error', done)
    request.resume()
  })
