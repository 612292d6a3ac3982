import { copyFile, open, stat, truncate } from 'node:fs/promises'

const LIMIT_BYTES = 8 * 1024 * 1024

/**
 * Opens the file for the server's output, readable only by this user. A file and not a pipe, because the server may survive this
 * process.
 */
export const openServerLog = async (file: string) => {
  const handle = await open(file, 'a', 0o600)
  await limitServerLog(file)
  return handle
}

/**
 * Keeps the log below about 8 MiB, with one older file `<file>.1`. The server keeps the file open, so it is copied and
 * truncated, not renamed.
 */
export const limitServerLog = async (file: string, limitBytes: number = LIMIT_BYTES): Promise<void> => {
  if ((await stat(file)).size <= limitBytes) return
  // If there is no space for the copy, the older lines are lost: on a full disk the space is needed.
  await copyFile(file, `${file}.1`).catch(() => {})
  await truncate(file)
}

/** The end of the log, at most `bytes` bytes; empty if it cannot be read. */
export const lastLines = async (file: string, bytes = 2_000): Promise<string> => {
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
