import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { z } from 'zod'
import { END_OF_ROWS, Header, TableLine, Trailer, VERSION } from './format.ts'
import type { Table } from './tables.ts'

/** The file is not a backup, or was changed. The message names the file. */
export class BadBackup extends Error {
  override readonly name = 'BadBackup'
}

export type Piece =
  | { readonly is: 'header'; readonly header: Header }
  | { readonly is: 'table'; readonly table: Table }
  /** Whole rows of the last table. */
  | { readonly is: 'rows'; readonly bytes: Buffer }
  /** The end of the last table's rows. */
  | { readonly is: 'end' }
  | { readonly is: 'trailer'; readonly trailer: Trailer }

const NEWLINE = 0x0a
const BLOCK = 1024 * 1024

const END_BETWEEN = Buffer.concat([Buffer.of(NEWLINE), END_OF_ROWS])

/** The offset of the line that ends the rows; -1 if it is not in these bytes. The bytes begin at the start of a line. */
const endOfRows = (bytes: Buffer): number => {
  if (bytes.subarray(0, END_OF_ROWS.length).equals(END_OF_ROWS)) return 0
  const at = bytes.indexOf(END_BETWEEN)
  return at < 0 ? -1 : at + 1
}

const parse = <Schema extends z.ZodType>(schema: Schema, line: Buffer): z.infer<Schema> | undefined => {
  try {
    return schema.safeParse(JSON.parse(line.toString())).data
  } catch {
    return undefined
  }
}

type Fail = (what: string) => never

const parseHeader = (line: Buffer, fail: Fail): Piece => {
  const header = parse(Header, line)
  if (!header) return fail('is not a backup: its first line is not the header that `tracebook backup` writes')
  if (header.tracebookBackup > VERSION)
    return fail(`was written by Tracebook ${header.version}: restore it with that version or a later one`)
  return { is: 'header', header }
}

const parseLine = (line: Buffer, fail: Fail): Piece => {
  const found = parse(TableLine, line)
  if (found) return { is: 'table', table: { name: found.table, columns: found.columns } }
  const trailer = parse(Trailer, line)
  return trailer
    ? { is: 'trailer', trailer }
    : fail('is damaged: a line is neither a table nor the trailer. Use another copy')
}

/** The next piece in the rest of a file's bytes, which begin with a line; undefined if more bytes have to be read. */
const nextPiece = (
  bytes: Buffer,
  { state, fail }: { readonly state: 'begin' | 'between' | 'rows'; readonly fail: Fail },
): { readonly piece: Piece; readonly length: number } | undefined => {
  if (state !== 'rows') {
    const end = bytes.indexOf(NEWLINE)
    if (state === 'begin' && end < 0 && bytes.length >= BLOCK) fail('is not a backup: its first line has no end')
    if (end < 0) return undefined
    const line = bytes.subarray(0, end)
    return { piece: state === 'begin' ? parseHeader(line, fail) : parseLine(line, fail), length: end + 1 }
  }
  const end = endOfRows(bytes)
  if (end === 0) return { piece: { is: 'end' }, length: END_OF_ROWS.length }
  const length = end > 0 ? end : bytes.lastIndexOf(NEWLINE) + 1
  return length === 0 ? undefined : { piece: { is: 'rows', bytes: bytes.subarray(0, length) }, length }
}

/**
 * Reads the pieces of a backup; the last one is the trailer. Needs memory for a block, or for the longest row.
 * @throws BadBackup if the file was changed, at the latest before it would yield the trailer
 */
export async function* readPieces(path: string): AsyncGenerator<Piece> {
  const fail: Fail = (what) => {
    throw new BadBackup(`${path} ${what}`)
  }
  const hash = createHash('sha256')
  let state: 'begin' | 'between' | 'rows' = 'begin'
  let trailer: Trailer | undefined
  let rest: Buffer = Buffer.alloc(0)
  for await (const block of createReadStream(path, { highWaterMark: BLOCK }) as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? block : Buffer.concat([rest, block])
    for (;;) {
      if (trailer && rest.length > 0) fail('is damaged: there is text after its trailer. Use another copy')
      const next = nextPiece(rest, { state, fail })
      if (!next) break
      const { piece, length } = next
      if (piece.is === 'trailer') {
        trailer = piece.trailer
        if (trailer.sha256 !== hash.digest('hex'))
          fail(
            'is damaged or was changed: the SHA-256 in its trailer differs from that of its content. Use another copy',
          )
      } else hash.update(rest.subarray(0, length))
      if (piece.is === 'table') state = 'rows'
      else if (piece.is !== 'rows') state = 'between'
      rest = rest.subarray(length)
      if (piece.is !== 'trailer') yield piece
    }
  }
  if (state === 'begin') fail('is not a backup: it has no header')
  if (!trailer)
    return fail(
      'is incomplete: it has no trailer, so a part is missing, or the backup was interrupted. Use another copy',
    )
  yield { is: 'trailer', trailer }
}

type CheckedBackup = { readonly header: Header; readonly trailer: Trailer }

/** Reads a whole file. @throws BadBackup if it is not a backup, or was changed */
export const checkBackup = async (path: string, check: () => void = () => {}): Promise<CheckedBackup> => {
  let header: Header | undefined
  for await (const piece of readPieces(path)) {
    check()
    if (piece.is === 'header') ({ header } = piece)
    if (piece.is === 'trailer') return { header: header!, trailer: piece.trailer }
  }
  throw new BadBackup(`${path} is empty`)
}
