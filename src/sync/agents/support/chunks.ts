import { AsyncLocalStorage } from 'node:async_hooks'
import { createReadStream, type ReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
// Not `import { createZstdDecompress }`: before Node 22.15 it is missing, and the import would fail for all agents.
import * as zlib from 'node:zlib'

const CHUNK = 1 << 18

/** Whether a file is compressed, so that a place in its content is no place in the file. */
export const isZstd = (path: string): boolean => path.endsWith('.zst')

// Beside the arguments, because every agent's parser would hand it through for the sake of a progress bar.
const reads = new AsyncLocalStorage<(bytes: number) => void>()

/** Runs `work`, and calls `onRead` with the number of bytes each time that it has read some of a session file. */
export const watchReads = <T>(onRead: (bytes: number) => void, work: () => T): T => reads.run(onRead, work)

/** Whether the compressed data are at fault, and not the reading of the file. */
const isDamage = (error: unknown): boolean => /^Z(STD)?_/.test((error as NodeJS.ErrnoException).code ?? '')

const decompressed = (file: ReadStream): AsyncIterable<Buffer> => {
  if (!('createZstdDecompress' in zlib)) throw new Error('reading .zst files needs Node 22.15 or later')
  // `pipeline` closes the file also when the reader stops early; errors reach the reader through the iteration.
  return pipeline(file, zlib.createZstdDecompress(), () => {})
}

/**
 * The content of the first `size` bytes of a file, without the first `from` of them; those of a `.zst` file are decompressed and
 * are all given. `onDamaged` is called where compressed data end too early or are broken: what was before has been given.
 */
export async function* chunksOf(path: string, size: number, onDamaged: () => void, from = 0): AsyncGenerator<Buffer> {
  if (size <= from) return
  const file = createReadStream(path, { start: from, end: size - 1, highWaterMark: CHUNK })
  const onRead = reads.getStore()
  let read = 0
  try {
    for await (const chunk of isZstd(path) ? decompressed(file) : (file as AsyncIterable<Buffer>)) {
      onRead?.(file.bytesRead - read)
      read = file.bytesRead
      yield chunk
    }
  } catch (error) {
    if (!isDamage(error)) throw error
    onDamaged()
  }
}

/** The first `length` bytes of a file's content, or less of a shorter one; what is damaged ends it. */
export const firstBytes = async (path: string, length: number): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let read = 0
  const size = isZstd(path) ? Infinity : length
  for await (const chunk of chunksOf(path, size, () => {})) {
    chunks.push(chunk)
    read += chunk.length
    if (read >= length) break
  }
  return Buffer.concat(chunks).subarray(0, length)
}
