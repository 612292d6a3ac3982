import { statSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { chunksOf } from './chunks.ts'

/** The first bytes of a file: their number, a checksum, and the file's inode. */
export type Content = { readonly inode: bigint; readonly length: number; readonly checksum: number }

const checksumOf = async (path: string, from: number, to: number, before: number): Promise<number> => {
  let checksum = before
  for await (const chunk of chunksOf(path, to, () => {}, from)) checksum = crc32(chunk, checksum)
  return checksum
}

/**
 * The first `length` bytes of a file, and whether they begin with those that it had before: so an edit in place is noticed, also if the file has
 * grown. All of them are read: that takes 20 ms for 30 MB, a sixtieth of what it takes to parse them.
 */
export const contentOf = async (
  path: string,
  length: number,
  before: Content | undefined,
): Promise<{ readonly content: Content; readonly isGrown: boolean }> => {
  const { ino: inode } = statSync(path, { bigint: true })
  const known = Math.min(before?.length ?? 0, length)
  const first = await checksumOf(path, 0, known, 0)
  const isGrown = before?.inode === inode && before.length === known && before.checksum === first
  return { content: { inode, length, checksum: await checksumOf(path, known, length, first) }, isGrown }
}
