import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Whether there is something at a path that cannot be replaced, as a device or a pipe. */
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
    if (flags === 'wx') await file.sync() // what is special cannot be synced
    return bytes
  } finally {
    await file.close()
  }
}

/** Puts the name of a new file on the disk, too. */
const syncFolder = async (folder: string) => {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}

/**
 * Writes a file that only its owner can read. It has its old content, or none, until all of the new one is there,
 * also after a power cut. Returns how many bytes were written.
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
