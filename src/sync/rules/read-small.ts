import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '')

/**
 * The text of a file that others may have made; undefined when it is missing. A pipe or a device is not waited for. Throws what
 * reading throws, and for anything but a file of at most `max` bytes.
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
