import { AsyncLocalStorage } from 'node:async_hooks'
import { closeSync, createReadStream, openSync, type ReadStream, readSync } from 'node:fs'
import { pipeline } from 'node:stream'
// Not `import { createZstdDecompress }`: before Node 22.15 it is missing, and the import would fail for all agents.
import * as zlib from 'node:zlib'
import { newYielding } from '../../../base/yielding.ts'

const CHUNK_BYTES = 256 * 1024

// One for all files: many small files keep the process busy as long as one large file does.
const yieldWhenDue = newYielding()

/** Whether a file is compressed. */
const isZstd = (path: string): boolean => path.endsWith('.zst')

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
function* plainChunks(path: string, from: number, size: number, onRead?: (bytes: number) => void): Generator<Buffer> {
  const file = openSync(path, 'r')
  const buffer = buffers.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  try {
    for (let at = from; at < size;) {
      const bytesRead = readSync(file, buffer, 0, Math.min(buffer.length, size - at), at)
      if (bytesRead === 0) return
      at += bytesRead
      onRead?.(bytesRead)
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    buffers.push(buffer)
    closeSync(file)
  }
}

/** The encoding of a file that begins with the mark of UTF-16, as PowerShell writes what is redirected; undefined for other files. */
const utf16In = (beginning: Buffer): 'utf-16le' | 'utf-16be' | undefined => {
  const mark = beginning.length < 2 ? 0 : beginning.readUInt16BE()
  if (mark === 0xfffe) return 'utf-16le'
  return mark === 0xfeff ? 'utf-16be' : undefined
}

/** The same chunks in UTF-8, if they are in UTF-16. */
function* inUtf8(chunks: Iterable<Buffer>): Generator<Buffer> {
  let decoder: TextDecoder | undefined
  let isFirst = true
  for (const chunk of chunks) {
    const encoding = isFirst ? utf16In(chunk) : undefined
    if (encoding) decoder = new TextDecoder(encoding)
    isFirst = false
    yield decoder ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk
  }
}

/** Whether the content of a file is not what its bytes are, so that an offset in it is not one in the file: one that is compressed, or in UTF-16. */
export const isEncoded = (path: string): boolean => {
  if (isZstd(path)) return true
  const [first = Buffer.alloc(0)] = plainChunks(path, 0, 2)
  return utf16In(first) !== undefined
}

const decompressed = (file: ReadStream): AsyncIterable<Buffer> => {
  if (!('createZstdDecompress' in zlib))
    throw new Error(`reading .zst files needs Node.js 22.15 or later, this is ${process.versions.node}: update Node.js`)
  // `pipeline` closes the file also when the reader stops early; errors reach the reader through the iteration.
  return pipeline(file, zlib.createZstdDecompress(), () => {})
}

/**
 * Reads a file from the offset `from` up to `size`; for a `.zst` file, all of its decompressed content. What is in UTF-16 is given in UTF-8. A chunk is valid only until the next one
 * is asked for, which takes its memory. If compressed data are cut off or damaged, `onDamaged` is called after the chunks before that place.
 */
export async function* chunksOf(path: string, size: number, onDamaged: () => void, from = 0): AsyncGenerator<Buffer> {
  if (size <= from) return
  const onRead = reads.getStore()
  if (!isZstd(path)) {
    const read = plainChunks(path, from, size, onRead)
    for (const chunk of from === 0 ? inUtf8(read) : read) {
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
