import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { newYielding } from '../../../base/yielding.ts'

const BLOCK = 1 << 16

/** How many blocks are checked each time: 4 MiB, which is more than most sessions have. */
const BLOCKS_AT_ONCE = 64

/** After this time all blocks are checked again. */
const ALL_AFTER_MS = 60_000

/** Checksums of the first bytes of a file: of each block, and of the rest after the last whole block. */
export type Checksums = { readonly blocks: readonly number[]; readonly rest: number; readonly length: number }

/** Computes the checksums of a file's bytes, which are added in order, after those of `known`. */
export const newChecksums = (known: Checksums = { blocks: [], rest: 0, length: 0 }) => {
  const blocks = [...known.blocks]
  let { rest, length } = known
  return {
    add: (bytes: Buffer): void => {
      for (let at = 0; at < bytes.length;) {
        const piece = bytes.subarray(at, at + BLOCK - (length % BLOCK))
        rest = crc32(piece, rest)
        length += piece.length
        at += piece.length
        if (length % BLOCK > 0) continue
        blocks.push(rest)
        rest = 0
      }
    },
    all: (): Checksums => ({ blocks, rest, length }),
  }
}

/**
 * Shows whether the first bytes of a file have changed: its inode, and their checksums. `next` is the block that is checked next,
 * `allAt` the time in milliseconds at which all blocks were last checked.
 */
export type Fingerprint = {
  readonly inode: string
  readonly blocks: string
  readonly rest: number
  readonly next: number
  readonly allAt: number
}

const textOf = (blocks: readonly number[]): string => Buffer.from(new Uint32Array(blocks).buffer).toString('base64')

const blocksOf = (text: string): readonly number[] => [
  ...new Uint32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer),
]

/** The checksums of the first `length` bytes. */
export const checksumsOf = ({ blocks, rest }: Fingerprint, length: number): Checksums => ({
  blocks: blocksOf(blocks),
  rest,
  length,
})

type File = { readonly inode: string; readonly checksum: (from: number, to: number) => number | undefined }

/** Calls `work` with an open file; undefined if the file does not exist. */
const withFile = async <T>(path: string, work: (file: File) => T | Promise<T>): Promise<T | undefined> => {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return undefined
  }
  try {
    const buffer = Buffer.allocUnsafe(BLOCK)
    const checksum = (from: number, to: number): number | undefined => {
      const bytes = readSync(file, buffer, 0, to - from, from)
      return bytes === to - from ? crc32(buffer.subarray(0, bytes)) : undefined
    }
    return await work({ inode: String(fstatSync(file, { bigint: true }).ino), checksum })
  } finally {
    closeSync(file)
  }
}

const startOfRest = (length: number): number => length - (length % BLOCK)

/** Whether some blocks, and the rest after the last block, are unchanged. */
const areSame = async (
  file: File,
  { blocks, rest, length }: Checksums,
  checkedBlocks: Iterable<number>,
): Promise<boolean> => {
  const yieldWhenDue = newYielding()
  if (file.checksum(startOfRest(length), length) !== rest) return false
  for (const block of checkedBlocks) {
    if (file.checksum(block * BLOCK, (block + 1) * BLOCK) !== blocks[block]) return false
    await yieldWhenDue()
  }
  return true
}

/** Whether the bytes after the first `from` ones are still in the file as they were read. */
export const isAsRead = async (path: string, read: Checksums, from: number): Promise<boolean> => {
  const first = Math.floor(from / BLOCK)
  const added = Array.from({ length: read.blocks.length - first }, (_, index) => first + index)
  return (await withFile(path, (file) => areSame(file, read, added))) === true
}

/**
 * The fingerprint of the first `length` bytes, from the checksums of at least these. `before` is the fingerprint of an earlier
 * place in the file. Undefined if the file is shorter, or does not exist.
 */
export const fingerprintAt = (
  path: string,
  { blocks }: Checksums,
  length: number,
  before: Fingerprint | undefined,
): Promise<Fingerprint | undefined> =>
  withFile(path, ({ inode, checksum }) => {
    const rest = checksum(startOfRest(length), length)
    if (rest === undefined || blocks.length < Math.floor(length / BLOCK)) return undefined
    const { next = 0, allAt = Date.now() } = before ?? {}
    return { inode, blocks: textOf(blocks.slice(0, Math.floor(length / BLOCK))), rest, next, allAt }
  })

/** The blocks to check now: all where they are few or it is time for that, else the first one, the last one and some in turn. */
const blocksToCheck = (count: number, { next, allAt }: Fingerprint, now: number): readonly number[] => {
  const isAll = count <= BLOCKS_AT_ONCE || now - allAt >= ALL_AFTER_MS || now < allAt
  if (isAll) return Array.from({ length: count }, (_, index) => index)
  return [0, count - 1, ...Array.from({ length: BLOCKS_AT_ONCE }, (_, index) => (next + index) % count)]
}

/**
 * Checks some of the first `length` bytes of a file against their fingerprint. Returns the fingerprint with a note of what was
 * checked, or undefined where something has changed. Appending to a file changes nothing.
 */
export const checked = (
  path: string,
  fingerprint: Fingerprint,
  length: number,
  now: number = Date.now(),
): Promise<Fingerprint | undefined> =>
  withFile(path, async (file) => {
    const checksums = checksumsOf(fingerprint, length)
    const count = checksums.blocks.length
    const blocks = blocksToCheck(count, fingerprint, now)
    if (file.inode !== fingerprint.inode || !(await areSame(file, checksums, blocks))) return undefined
    if (blocks.length === count) return { ...fingerprint, next: 0, allAt: now }
    return { ...fingerprint, next: (fingerprint.next + BLOCKS_AT_ONCE) % count }
  })
