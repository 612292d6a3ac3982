import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '')

/**
 * Reads a text file that another user may have written, for example one in a cloned repository; undefined if it is missing. Does not wait for a
 * pipe or a device. Throws an error if the path is no regular file, if the file has more than `max` bytes, or if it cannot be read.
 */
export const readSmallFile = async (path: string, max: number): Promise<string | undefined> => {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (!file) return undefined
  try {
    if (!(await file.stat()).isFile()) throw new Error(`${path}: expected a regular file`)
    const { bytesRead, buffer } = await file.read(Buffer.alloc(max + 1), 0, max + 1, 0)
    if (bytesRead > max) throw new Error(`${path}: expected at most ${max.toLocaleString('en')} bytes`)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
