import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const BLOCK = 512

/** The time of all files, which npm writes too: with one of the moment, no two tarballs would be the same. */
const MODIFIED_SECONDS = Date.UTC(1985, 9, 26, 8, 15) / 1_000

const octal = (number: number, length: number): string => number.toString(8).padStart(length - 1, '0') + '\0'

/** The header of a file in the format of POSIX, ustar. */
const headerOf = (path: string, size: number): Buffer => {
  const header = Buffer.alloc(BLOCK)
  header.write(path, 0)
  header.write(octal(0o755, 8) + octal(0, 8) + octal(0, 8) + octal(size, 12) + octal(MODIFIED_SECONDS, 12), 100)
  header.write('        0', 148) // the checksum counts as spaces in its own sum; then the type, a file
  header.write('ustar\0' + '00', 257)
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.write(`${octal(sum, 7)} `, 148)
  return header
}

const toWholeBlocks = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)

/**
 * Files, by their paths of at most 100 bytes of ASCII, as a tar archive that is compressed with gzip; the same bytes for the same files. That is all
 * of the format that an npm package needs: a library would be larger.
 */
export const tarball = (files: Readonly<Record<string, Uint8Array>>): Promise<Buffer> => {
  const blocks = Object.entries(files).flatMap(([path, content]) => [
    headerOf(path, content.length),
    content,
    toWholeBlocks(content.length),
  ])
  return promisify(gzip)(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 })
}
