import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MiB = 1024 * 1024
const PIECE = 64 * 1024

/** A small file system that can really be full. */
export type Disk = {
  readonly folder: string
  /** Leaves about so many bytes free. */
  fill(left: number): void
  /** Frees the filled space. */
  free(): void
  unmount(): void
}

const freeBytes = (folder: string) => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** Mounts one. Undefined if this machine does not allow it: that needs root, and further rights in a container. */
export const mountDisk = (parent: string, sizeMb: number): Disk | undefined => {
  const folder = join(parent, 'disk')
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=755`, 'tmpfs', folder], { stdio: 'pipe' })
  } catch {
    return undefined
  }
  const filler = join(folder, 'filler')
  const fill = (left: number) => {
    const pieces = Math.max(0, Math.floor((freeBytes(folder) - left) / MiB))
    writeFileSync(filler, Buffer.alloc(pieces * MiB))
    try {
      while (freeBytes(folder) > left) writeFileSync(filler, Buffer.alloc(PIECE), { flag: 'a' })
    } catch {
      // another process has used the rest
    }
  }
  return {
    folder,
    fill,
    free: () => rmSync(filler, { force: true }),
    unmount: () => void execFileSync('umount', ['-l', folder]),
  }
}
