import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** How many bytes are looked at, of the beginning of a file and before a place in it. */
const LOOKED_AT = 4_096

const hashOf = (file: number, from: number, to: number): string | undefined => {
  const bytes = Buffer.alloc(to - from)
  return readSync(file, bytes, 0, bytes.length, from) === bytes.length ? hash('sha256', bytes, 'base64url') : undefined
}

const opened = (path: string): number | undefined => {
  try {
    return openSync(path, 'r')
  } catch {
    return undefined
  }
}

/**
 * Tells whether the first `offset` bytes of a file are those that they were: its inode, and hashes of the first bytes and of the
 * last ones before `offset`. What is only appended to keeps it. Undefined for a file that is shorter, or is not there. Does not
 * hand so small reads to other threads, which costs ten times as much: it is asked for three times for each session.
 */
export const fingerprintOf = (path: string, offset: number): string | undefined => {
  const file = opened(path)
  if (file === undefined) return undefined
  try {
    const { ino } = fstatSync(file, { bigint: true })
    const first = hashOf(file, 0, Math.min(LOOKED_AT, offset))
    const last = hashOf(file, Math.max(0, offset - LOOKED_AT), offset)
    return first === undefined || last === undefined ? undefined : `${ino} ${first} ${last}`
  } finally {
    closeSync(file)
  }
}
