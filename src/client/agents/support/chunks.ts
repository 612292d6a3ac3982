import { AsyncLocalStorage } from 'node:async_hooks'
import { closeSync, createReadStream, openSync, type ReadStream, readSync } from 'node:fs'
import { pipeline } from 'node:stream'
// Not `import { createZstdDecompress }`: before Node 22.15 it is missing, and the import would fail for all agents.
import * as zlib from 'node:zlib'
import { newYielding } from '../../../base/yielding.ts'

const CHUNK_BYTES = 256 * 1024

// One for all files: many small files keep the process busy as long as one large file does.
const yieldWhenDue = newYielding()

/** Whether a file is compressed, so that an offset in its content is not one in the file. */
export const isZstd = (path: string): boolean => path.endsWith('.zst')

// Not a parameter, because then the parser of each agent would have to pass it on, only for a progress bar.
const reads = new AsyncLocalStorage<(bytes: number) => void>()

/** Runs `work`, and calls `onRead` with the number of bytes each time that it has read from a session file. */
export const watchReads = <T>(onRead: (bytes: number) => void, work: () => T): T => reads.run(onRead, work)

/** Whether an error means damaged compressed data, and not that the file cannot be read. */
const isDamage = (error: unknown): boolean => /^Z(STD)?_/.test((error as NodeJS.ErrnoException).code ?? '')

// Buffers are used again for the next file, because Node frees memory outside of the heap late, and thousands of files are read.
const buffers: Buffer[] = []

/**
 * The chunks of a file that is not compressed. They are read synchronously: waiting for another thread takes longer than reading a
 * chunk that the system has in memory, and a stream takes longer still.
 */
function* plainChunks(path: string, from: number, size: number): Generator<Buffer> {
  const file = openSync(path, 'r')
  const buffer = buffers.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
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
  if (!('createZstdDecompress' in zlib))
    throw new Error(`reading .zst files needs Node.js 22.15 or later, this is ${process.versions.node}: update Node.js`)
  // `pipeline` closes the file also when the reader stops early; errors reach the reader through the iteration.
  return pipeline(file, zlib.createZstdDecompress(), () => {})
}

/**
 * Reads a file from the offset `from` up to `size`; for a `.zst` file, all of its decompressed content. A chunk is valid only until the next one
 * is asked for, which takes its memory. If compressed data are cut off or damaged, `onDamaged` is called after the chunks before that place.
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
  const file = createReadStream(path, { start: from, end: size - 1, highWaterMark: CHUNK_BYTES })
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

/** The first `length` bytes of a file's content; fewer if the content is shorter or damaged. */
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
