import { constants, createGzip } from 'node:zlib'

/** Compresses an answer piece by piece: the bytes of a piece can be read before the next piece comes. Works on threads of Node. */
export const newGzipPieces = () => {
  const gzip = createGzip()
  let made: Buffer[] = []
  gzip.on('data', (bytes: Buffer) => made.push(bytes))

  const take = () => {
    const bytes = Buffer.concat(made)
    made = []
    return bytes
  }

  /** The compressed bytes of a piece. */
  const compress = (bytes: Buffer, isLast: boolean): Promise<Buffer> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    gzip.once('error', reject)
    if (isLast) gzip.end(bytes).once('end', resolve)
    else {
      gzip.write(bytes)
      gzip.flush(constants.Z_SYNC_FLUSH, resolve)
    }
    return promise.then(take).finally(() => gzip.off('error', reject))
  }

  return { compress, close: () => gzip.destroy() }
}
