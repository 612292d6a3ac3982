import { type StatsFs, statfsSync } from 'node:fs'

type Statfs = (dir: string) => Pick<StatsFs, 'bavail' | 'bsize'>

/** As `statfsSync`, of which tests make another. */
export type StatDisk = (dir: string) => Pick<StatsFs, 'blocks' | 'bfree' | 'bavail' | 'bsize'>

type DiskGuardOptions = {
  readonly dir: string
  /** MiB to keep free (`DISK_RESERVE_MB`). */
  readonly reserveMb?: number
  /** How many milliseconds a result is reused. */
  readonly maxAgeMs?: number
  readonly statfs?: Statfs
  /** Called when the result changes. */
  readonly onChange?: (isLow: boolean) => void
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number
}

/** The bytes that an unprivileged user can still write to the file system of a folder. */
export const freeBytes = (dir: string, statfs: Statfs = statfsSync): number => {
  const { bavail, bsize } = statfs(dir)
  return bavail * bsize
}

/** The bytes that are used on the file system of a folder, and those that an unprivileged user can still write. */
export const diskSpace = (
  dir: string,
  statfs: StatDisk = statfsSync,
): { readonly used: number; readonly free: number } => {
  const { blocks, bfree, bavail, bsize } = statfs(dir)
  return { used: (blocks - bfree) * bsize, free: bavail * bsize }
}

/** Whether a disk is too full to write to it; or, with a number of bytes, whether it would be once these are written. */
export type IsDiskLow = (more?: number) => boolean

/**
 * A full disk makes PostgreSQL panic, so writes are refused before it is full.
 * @returns a function that says whether writes have to be refused, cheap enough to be called for every write. Returns false if the
 * file system cannot be read: then PostgreSQL will report an error itself.
 */
export const diskGuard = ({
  dir,
  reserveMb = 256,
  maxAgeMs = 250,
  statfs = statfsSync,
  onChange = () => {},
  now = () => performance.now(),
}: DiskGuardOptions): IsDiskLow => {
  const isFull = (more = 0) => {
    try {
      return freeBytes(dir, statfs) < reserveMb * 1024 * 1024 + more
    } catch {
      return false
    }
  }
  let last = { full: false, at: -Infinity }
  return (more) => {
    if (more !== undefined) return isFull(more)
    const at = now()
    if (at - last.at < maxAgeMs) return last.full
    const full = isFull()
    if (full !== last.full) onChange(full)
    last = { full, at }
    return full
  }
}
