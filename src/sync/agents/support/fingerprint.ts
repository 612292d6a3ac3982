import { hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'

/** How many bytes are looked at, of the beginning of a file and before a place in it. */
const LOOKED_AT = 4_096

const hashOf = async (file: FileHandle, from: number, to: number): Promise<string | undefined> => {
  const bytes = Buffer.alloc(to - from)
  const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
  return bytesRead === bytes.length ? hash('sha256', bytes, 'base64url') : undefined
}

/**
 * Tells whether the first `offset` bytes of a file are those that they were: its inode, and hashes of the first bytes and of the
 * last ones before `offset`. What is only appended to keeps it. Undefined for a file that is shorter, or is not there.
 */
export const fingerprintOf = async (path: string, offset: number): Promise<string | undefined> => {
  const file = await open(path).catch(() => undefined)
  if (!file) return undefined
  try {
    const { ino } = await file.stat({ bigint: true })
    const first = await hashOf(file, 0, Math.min(LOOKED_AT, offset))
    const last = await hashOf(file, Math.max(0, offset - LOOKED_AT), offset)
    return first === undefined || last === undefined ? undefined : `${ino} ${first} ${last}`
  } finally {
    await file.close()
  }
}
