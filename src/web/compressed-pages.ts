import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { textBytes } from '../engine/sized-cache.ts'

const compress = promisify(gzip)

/** A longer page is sent as it is, piece by piece. */
const MOST_BYTES = 2 * 1024 * 1024
/** So many fit into the buffers of a socket. */
const MOST_SENT_BYTES = 256 * 1024

/**
 * Compresses cached pages, each once as long as it is cached. They are the same for everybody and repeat nothing of a request, so that
 * their length tells nothing. Undefined for a page that is too long to be sent at once.
 */
export const newCompressedPages = () => {
  const made = new WeakMap<readonly string[], Promise<Buffer>>()
  return async (pieces: readonly string[]): Promise<Buffer | undefined> => {
    if (textBytes(pieces) > MOST_BYTES) return undefined
    const making = made.get(pieces) ?? compress(pieces.join(''))
    made.set(pieces, making)
    making.catch(() => made.delete(pieces))
    const bytes = await making
    return bytes.length > MOST_SENT_BYTES ? undefined : bytes
  }
}
