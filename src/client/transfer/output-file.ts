import { createHash } from 'node:crypto'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { replaceFile, syncFolder } from '../../base/replace-file.ts'

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

const writeTo = async (file: FileHandle, pieces: AsyncIterable<Uint8Array>): Promise<number> => {
  let bytes = 0
  for await (const piece of pieces) {
    await file.writeFile(piece)
    bytes += piece.length
  }
  return bytes
}

/**
 * Writes a file that only its owner can read. It has its old content, or does not exist, until the new content is complete, also after a
 * power cut. Returns the number of bytes.
 */
export const writeWhole = async (path: string, pieces: AsyncIterable<Uint8Array>): Promise<number> => {
  if (await isSpecial(path)) {
    const file = await open(path, 'w')
    return writeTo(file, pieces).finally(() => file.close())
  }
  const bytes = await replaceFile(path, 0o600, (file) => writeTo(file, pieces))
  await syncFolder(dirname(path))
  return bytes
}
