import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { uuidText } from '../../../base/uuid.ts'
import type { Slice } from '../hashing.ts'

/** Rows of a binary COPY, which are far cheaper to read than those of a query. */

/** One row: field i begins in `bytes` at `fields[i]`, and ends at `fields[i + 1] - 4`. */
export type BinaryRow = { readonly bytes: Buffer; readonly fields: readonly number[] }

const SIGNATURE_BYTES = 11
const HEADER_BYTES = SIGNATURE_BYTES + 8
const FIELD_COUNT_BYTES = 2
const LENGTH_BYTES = 4

/** Finds the rows in pieces of a COPY, which may end anywhere. None of the fields may be null. */
const newRowReader = (read: (row: BinaryRow) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  let isBegun = false
  const fields: number[] = []

  /** Where the row that begins at `start` ends; -1 if its end has not come yet, or there is no row. */
  const endOf = (bytes: Buffer, start: number): number => {
    if (start + FIELD_COUNT_BYTES > bytes.length) return -1
    const count = bytes.readInt16BE(start)
    let offset = start + FIELD_COUNT_BYTES
    fields.length = 0
    for (let i = 0; i < count; i++) {
      if (offset + LENGTH_BYTES > bytes.length) return -1
      fields.push(offset + LENGTH_BYTES)
      offset += LENGTH_BYTES + bytes.readInt32BE(offset)
      if (offset > bytes.length) return -1
    }
    fields.push(offset + LENGTH_BYTES)
    return count < 0 ? -1 : offset
  }

  return (piece: Buffer): void => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece
    let offset = 0
    if (!isBegun) {
      if (bytes.length < HEADER_BYTES) return void (rest = bytes)
      offset = HEADER_BYTES + bytes.readInt32BE(HEADER_BYTES - LENGTH_BYTES)
      isBegun = true
    }
    for (let end = endOf(bytes, offset); end >= 0; end = endOf(bytes, offset)) {
      read({ bytes, fields })
      offset = end
    }
    rest = bytes.subarray(offset)
  }
}

/** Converts the rows of a query by `convert`, and yields the results in pieces as they come. A row must not be kept. */
export async function* copyRows<T>(
  client: pg.Client,
  query: string,
  convert: (row: BinaryRow, add: (item: T) => void) => void,
): AsyncGenerator<T[]> {
  let items: T[] = []
  const add = (item: T) => void items.push(item)
  const readPiece = newRowReader((row) => convert(row, add))
  for await (const piece of client.query(copyTo(`copy (${query}) to stdout (format binary)`))) {
    readPiece(piece as Buffer)
    if (items.length === 0) continue
    yield items
    items = []
  }
}

export const int4At = ({ bytes, fields }: BinaryRow, i: number): number => bytes.readInt32BE(fields[i]!)

export const int8At = ({ bytes, fields }: BinaryRow, i: number): bigint => bytes.readBigInt64BE(fields[i]!)

/** The bytes of a field, valid as long as the row. */
export const sliceAt = ({ bytes, fields }: BinaryRow, i: number): Slice => ({
  bytes,
  from: fields[i]!,
  to: fields[i + 1]! - LENGTH_BYTES,
})

export const textAt = ({ bytes, fields }: BinaryRow, i: number): string =>
  bytes.toString('utf8', fields[i]!, fields[i + 1]! - LENGTH_BYTES)

export const uuidAt = ({ bytes, fields }: BinaryRow, i: number): string => uuidText(bytes.subarray(fields[i]!))

/** A copy of the bytes of a field. */
export const bytesAt = ({ bytes, fields }: BinaryRow, i: number): Buffer =>
  Buffer.from(bytes.subarray(fields[i]!, fields[i + 1]! - LENGTH_BYTES))
