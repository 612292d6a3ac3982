import { type StatsFs, statfsSync } from 'node:fs'

type Statfs = (dir: string) => Pick<StatsFs, 'bavail' | 'bsize'>

export type DiskGuardOptions = {
  readonly dir: string
  /** MiB to keep free (`DISK_RESERVE_MB`). */
  readonly reserveMb?: number
  /** How old an answer may be, in milliseconds. */
  readonly maxAgeMs?: number
  readonly statfs?: Statfs
  /** Milliseconds that only ever grow. */
  readonly now?: () => number
}

/** The bytes that an unprivileged user can still write to the file system of a folder. */
export const freeBytes = (dir: string, statfs: Statfs = statfsSync): number => {
  const { bavail, bsize } = statfs(dir)
  return bavail * bsize
}

/**
 * A full disk panics Postgres, so writes end before it is full.
 * @returns a function that says whether writes have to be refused; cheap enough to ask on every write. A file system
 * that does not answer refuses nothing: Postgres will say more about it.
 */
export const diskGuard = ({
  dir,
  reserveMb = 256,
  maxAgeMs = 250,
  statfs = statfsSync,
  now = () => performance.now(),
}: DiskGuardOptions): (() => boolean) => {
  const look = () => {
    try {
      return freeBytes(dir, statfs) < reserveMb * 1024 * 1024
    } catch {
      return false
    }
  }
  let known = { full: false, at: -Infinity }
  return () => {
    const at = now()
    if (at - known.at >= maxAgeMs) known = { full: look(), at }
    return known.full
  }
}
