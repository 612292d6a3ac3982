import { copyFile, open, stat, truncate } from 'node:fs/promises'

const LIMIT_BYTES = 8 * 1024 * 1024

/**
 * Opens the server's own output for appending, readable by us only. A file and no pipe: it outlives us.
 * The server keeps the file open, so an overlong one is copied to `<file>.1` and emptied, at any time.
 */
export const openLog = async (file: string) => {
  const handle = await open(file, 'a', 0o600)
  await boundLog(file)
  return handle
}

/** Keeps the log below about 8 MiB, and one older one beside it. */
export const boundLog = async (file: string, limitBytes: number = LIMIT_BYTES): Promise<void> => {
  if ((await stat(file)).size <= limitBytes) return
  // Without room for the copy the older lines are lost, which a full disk needs most.
  await copyFile(file, `${file}.1`).catch(() => {})
  await truncate(file)
}

/** The last lines of the log, at most `bytes` of them; empty when it cannot be read. */
export const tailOf = async (file: string, bytes = 2_000): Promise<string> => {
  const handle = await open(file).catch(() => undefined)
  if (!handle) return ''
  try {
    const { size } = await handle.stat()
    const start = Math.max(0, size - bytes)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, start)
    return buffer.toString('utf8', 0, bytesRead).trim()
  } finally {
    await handle.close()
  }
}
