import type { IncomingMessage } from 'node:http'

const MAX_BYTES = 64 * 1024 * 1024
const MAX_MS = 5_000

/**
 * Reads and discards the rest of a refused body, up to 64 MiB or 5 seconds. If the service closed the connection while the client
 * writes, the connection would be reset, and the client would lose the answer.
 */
export const drain = (request: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    if (request.readableEnded || request.destroyed) return resolve()
    let bytes = 0
    const count = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_BYTES) done()
    }
    const done = () => {
      clearTimeout(timer)
      request.off('data', count).off('end', done).off('close', done).off('error', done)
      resolve()
    }
    const timer = setTimeout(done, MAX_MS)
    request.on('data', count).on('end', done).on('close', done).on('error', done)
    request.resume()
  })
