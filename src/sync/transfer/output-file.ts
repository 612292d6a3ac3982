import { createHash } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The most characters of a name: with its ending, and that of a temporary file, it has less than the 255 bytes that file systems allow. */
const MOST = 100

/** Names that Windows reserves for devices, with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/

/**
 * A name for the file of a trace, without an ending: always the same for one id, and different for different ids, also on file systems that
 * ignore case. An id of lower-case letters, digits, hyphens, underscores and dots is used as it is; of any other id the beginning, followed by
 * a hash.
 */
export const fileNameOf = (externalId: string): string => {
  const isPlain = externalId.length <= MOST && /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/.test(externalId)
  // An id that ends like the names of other ids, in a hash, is not used as it is.
  if (isPlain && !RESERVED.test(externalId.split('.')[0]!) && !/-[0-9a-f]{16}$/.test(externalId)) return externalId
  const readable = externalId.slice(0, MOST).replace(/^-|[^A-Za-z0-9_-]+/g, '_')
  return `${readable}-${createHash('sha256').update(externalId).digest('hex').slice(0, 16)}`
}

/** Whether a path leads to something that cannot be replaced, such as a device or a pipe. */
const isSpecial = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && !found.isFile()
}

const writeAll = async (path: string, flags: 'w' | 'wx', pieces: AsyncIterable<Uint8Array>): Promise<number> => {
  const file = await open(path, flags, 0o600)
  let bytes = 0
  try {
    for await (const piece of pieces) {
      await file.writeFile(piece)
      bytes += piece.length
    }
    if (flags === 'wx') await file.sync() // special files cannot be synced
    return bytes
  } finally {
    await file.close()
  }
}

/** Makes the name of a new file durable, too. */
const syncFolder = async (folder: string) => {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}

/**
 * Writes a file that only its owner can read. It has its old content, or does not exist, until the new content is complete, also after a
 * power cut. Returns the number of bytes.
 */
export const writeWhole = async (path: string, pieces: AsyncIterable<Uint8Array>): Promise<number> => {
  if (await isSpecial(path)) return writeAll(path, 'w', pieces)
  const temporary = `${path}.${process.pid}.tmp`
  try {
    await rm(temporary, { force: true })
    const bytes = await writeAll(temporary, 'wx', pieces)
    await rename(temporary, path)
    await syncFolder(dirname(path))
    return bytes
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
