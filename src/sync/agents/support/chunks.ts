import { AsyncLocalStorage } from 'node:async_hooks'
import { closeSync, createReadStream, openSync, type ReadStream, readSync } from 'node:fs'
import { pipeline } from 'node:stream'
// Not `import { createZstdDecompress }`: before Node 22.15 it is missing, and the import would fail for all agents.
import * as zlib from 'node:zlib'
import { newYielding } from '../../../base/yielding.ts'

const CHUNK = 1 << 18

// Of all readings together: many small files take as long as a large one.
const yieldWhenDue = newYielding()

/** Whether a file is compressed, so that a place in its content is no place in the file. */
export const isZstd = (path: string): boolean => path.endsWith('.zst')

// Beside the arguments, because every agent's parser would hand it through for the sake of a progress bar.
const reads = new AsyncLocalStorage<(bytes: number) => void>()

/** Runs `work`, and calls `onRead` with the number of bytes each time that it has read some of a session file. */
export const watchReads = <T>(onRead: (bytes: number) => void, work: () => T): T => reads.run(onRead, work)

/** Whether the compressed data are at fault, and not the reading of the file. */
const isDamage = (error: unknown): boolean => /^Z(STD)?_/.test((error as NodeJS.ErrnoException).code ?? '')

// Used again and again: memory outside of the heap is given back late, and thousands of files are read.
const buffers: Buffer[] = []

/**
 * Of a file that is not compressed. Reads without waiting: each wait for another thread costs more than the reading of a piece that
 * the system has in memory, and a stream costs more again.
 */
function* plainChunks(path: string, from: number, size: number): Generator<Buffer> {
  const file = openSync(path, 'r')
  const buffer = buffers.pop() ?? Buffer.allocUnsafeSlow(CHUNK)
  try {
    for (let at = from; at < size;) {
      const bytesRead = readSync(file, buffer, 0, Math.min(buffer.length, size - at), at)
      if (bytesRead === 0) return
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    buffers.push(buffer)
    closeSync(file)
  }
}

const decompressed = (file: ReadStream): AsyncIterable<Buffer> => {
  if (!('createZstdDecompress' in zlib)) throw new Error('reading .zst files needs Node 22.15 or later')
  // `pipeline` closes the file also when the reader stops early; errors reach the reader through the iteration.
  return pipeline(file, zlib.createZstdDecompress(), () => {})
}

/**
 * The content of the first `size` bytes of a file, without the first `from` of them; those of a `.zst` file are decompressed and
 * are all given. A chunk is the reader's until it asks for the next one. `onDamaged` is called where compressed data end too early
 * or are broken: what was before has been given.
 */
export async function* chunksOf(path: string, size: number, onDamaged: () => void, from = 0): AsyncGenerator<Buffer> {
  if (size <= from) return
  const onRead = reads.getStore()
  if (!isZstd(path)) {
    for (const chunk of plainChunks(path, from, size)) {
      onRead?.(chunk.length)
      yield chunk
      await yieldWhenDue()
    }
    return
  }
  const file = createReadStream(path, { start: from, end: size - 1, highWaterMark: CHUNK })
  let read = 0
  try {
    for await (const chunk of decompressed(file)) {
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
    chunks.push(Buffer.from(chunk))
    read += chunk.length
    if (read >= length) break
  }
  return Buffer.concat(chunks).subarray(0, length)
}
