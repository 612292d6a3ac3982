import { promisify } from 'node:util'
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Position } from '../log.ts'

/** The texts of a row's events one behind the other, as they are stored: compressed if `bytes`, their size before that, is not null. */
export type Body = { readonly body: Buffer; readonly bytes: number | null }

/**
 * The size in bytes from which a body is compressed. Compressing a smaller one would take longer than storing the bytes that it saves. A larger
 * one always becomes smaller, because no UTF-8 text is as dense as random bytes: Base64 becomes smaller by a quarter.
 */
const COMPRESSED_FROM = 8 * 1024
/** The size in bytes from which a body is compressed on a thread: handing over a smaller one would take as long as compressing it. */
const ON_THREAD_FROM = 32 * 1024

const onThread = promisify(zstdCompress)

const optionsFor = (size: number) => ({
  chunkSize: size + 1_024, // the output is one piece: for each further piece the thread would wait for the event loop
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
})

/** The body of texts that are so many bytes in UTF-8; a promise if it is compressed on a thread. */
export const newBody = (texts: readonly string[], bytes: number): Body | Promise<Body> => {
  // A large one is freed below, so it must not share its memory with other buffers, as those of Node's pool do.
  const whole = bytes < ON_THREAD_FROM ? Buffer.allocUnsafe(bytes) : Buffer.allocUnsafeSlow(bytes)
  let offset = 0
  for (const text of texts) offset += whole.write(text, offset)
  if (bytes < COMPRESSED_FROM) return { body: whole, bytes: null }
  const options = optionsFor(bytes)
  if (bytes < ON_THREAD_FROM) return { body: zstdCompressSync(whole, options), bytes }
  return onThread(whole, options).then((body) => {
    whole.buffer.transfer(0) // at once: the collector lets tens of megabytes of bytes pile up
    return { body, bytes }
  })
}

/** The data of a row were changed behind the service's back, by a failing disk for example. */
export class DamagedRow extends Error {
  override readonly name = 'DamagedRow'

  constructor(last: Position, cause?: unknown) {
    super(`the log's row that ends at position ${last} cannot be read: its data are damaged`, { cause })
  }
}

/** The texts of a compressed body, of the row that ends at a position. @throws DamagedRow */
export const decompressed = (body: Buffer, bytes: number, last: Position): Buffer => {
  let whole: Buffer
  try {
    whole = zstdDecompressSync(body, { chunkSize: bytes, maxOutputLength: bytes })
  } catch (error) {
    throw new DamagedRow(last, error)
  }
  if (whole.length !== bytes) throw new DamagedRow(last)
  return whole
}
