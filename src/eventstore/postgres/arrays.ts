/**
 * Encodes PostgreSQL arrays in binary form, as parameters of `unnest($1::json[], …)`. `pg` would send them as escaped text,
 * which takes more time than the insert itself when the elements are kilobytes long.
 * Layout: dimensions, has-null flag, element type, length, lower bound, then length-prefixed elements, big endian.
 */

import { writeUuid } from '../../base/uuid.ts'

const HEADER_BYTES = 20
const oid = { bool: 16, bytea: 17, int8: 20, int4: 23, text: 25, json: 114, float8: 701, uuid: 2950 }

const header = (target: Buffer, type: number, length: number) => {
  target.writeInt32BE(1, 0)
  target.writeInt32BE(1, 4)
  target.writeInt32BE(type, 8)
  target.writeInt32BE(length, 12)
  target.writeInt32BE(1, 16)
}

const empty = (type: number): Buffer => {
  const target = Buffer.alloc(12)
  target.writeInt32BE(type, 8)
  return target
}

type Nullable<T> = readonly (T | null | undefined)[]

const strings = (type: number, values: Nullable<string>): Buffer => {
  if (values.length === 0) return empty(type)
  let size = HEADER_BYTES
  for (const value of values) size += 4 + (value === null || value === undefined ? 0 : Buffer.byteLength(value))
  const target = Buffer.allocUnsafe(size)
  header(target, type, values.length)
  let offset = HEADER_BYTES
  for (const value of values) {
    if (value === null || value === undefined) {
      offset = target.writeInt32BE(-1, offset)
      continue
    }
    const written = target.write(value, offset + 4)
    target.writeInt32BE(written, offset)
    offset += 4 + written
  }
  return target
}

const fixed = <T>(type: number, width: number, write: (target: Buffer, value: T, offset: number) => void) => {
  return (values: Nullable<T>): Buffer => {
    if (values.length === 0) return empty(type)
    const target = Buffer.allocUnsafe(HEADER_BYTES + values.length * (4 + width))
    header(target, type, values.length)
    let offset = HEADER_BYTES
    for (const value of values) {
      if (value === null || value === undefined) {
        offset = target.writeInt32BE(-1, offset)
        continue
      }
      target.writeInt32BE(width, offset)
      write(target, value, offset + 4)
      offset += 4 + width
    }
    return target.subarray(0, offset)
  }
}

/** For well-formed texts without NUL: a lone surrogate would be replaced, and PostgreSQL refuses NUL. */
export const texts = (values: Nullable<string>): Buffer => strings(oid.text, values)
export const jsons = (values: Nullable<string>): Buffer => strings(oid.json, values)
export const uuids = fixed<string>(oid.uuid, 16, writeUuid)
/** Texts that are joined into one value, and the number of their bytes in UTF-8. */
export type JoinedTexts = { readonly texts: readonly string[]; readonly bytes: number }

/** An array of `bytea`, with one value for each group of texts. */
export const joinedTexts = (groups: readonly JoinedTexts[]): Buffer => {
  if (groups.length === 0) return empty(oid.bytea)
  const target = Buffer.allocUnsafe(HEADER_BYTES + groups.reduce((sum, { bytes }) => sum + 4 + bytes, 0))
  header(target, oid.bytea, groups.length)
  let offset = HEADER_BYTES
  for (const { texts, bytes } of groups) {
    offset = target.writeInt32BE(bytes, offset)
    for (const text of texts) offset += target.write(text, offset)
  }
  return target
}

export const byteas = (values: readonly Uint8Array[]): Buffer => {
  if (values.length === 0) return empty(oid.bytea)
  const target = Buffer.allocUnsafe(HEADER_BYTES + values.reduce((sum, { length }) => sum + 4 + length, 0))
  header(target, oid.bytea, values.length)
  let offset = HEADER_BYTES
  for (const value of values) {
    offset = target.writeInt32BE(value.length, offset)
    target.set(value, offset)
    offset += value.length
  }
  return target
}

export const int8s = fixed<bigint | number>(oid.int8, 8, (target, value, offset) => {
  target.writeBigInt64BE(BigInt(value), offset)
})
export const int4s = fixed<number>(oid.int4, 4, (target, value, offset) => {
  target.writeInt32BE(value, offset)
})
/** Several arrays, concatenated into one. */
export const joinedInt4s = (arrays: readonly Int32Array[]): Buffer => {
  const count = arrays.reduce((sum, { length }) => sum + length, 0)
  if (count === 0) return empty(oid.int4)
  const target = Buffer.allocUnsafe(HEADER_BYTES + count * 8)
  header(target, oid.int4, count)
  let offset = HEADER_BYTES
  for (const array of arrays)
    for (const value of array) offset = target.writeInt32BE(value, target.writeInt32BE(4, offset))
  return target
}
export const float8s = fixed<number>(oid.float8, 8, (target, value, offset) => {
  target.writeDoubleBE(value, offset)
})
export const bools = fixed<boolean>(oid.bool, 1, (target, value, offset) => {
  target.writeUInt8(value ? 1 : 0, offset)
})
/** For values of 32 bytes each. */
export const hashes = fixed<Uint8Array>(oid.bytea, 32, (target, value, offset) => {
  target.set(value, offset)
})
