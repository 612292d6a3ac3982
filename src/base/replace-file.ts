import { type FileHandle, open, rename, rm } from 'node:fs/promises'

/**
 * Replaces a file with what `write` writes, whose result it returns. After a crash or a power cut at any point the file has the old content,
 * or does not exist, or has the new content. A symbolic link is replaced, not followed.
 */
export const replaceFile = async <T>(
  path: string,
  mode: number,
  write: (file: FileHandle) => Promise<T>,
): Promise<T> => {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    await rm(temporary, { force: true })
    const file = await open(temporary, 'wx', mode)
    let result: T
    try {
      await file.chmod(mode) // the process's mask may have taken something from it
      result = await write(file)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    return result
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Makes the names in a folder as durable as the content of its files. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}
