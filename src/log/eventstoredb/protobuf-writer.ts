/** A field of a message in the wire format of protocol buffers. Its size is known before it is written. */
export type Field = {
  /** Bytes, with the field's tag and length. */
  readonly size: number
  /** Writes the field, and returns where it ends. */
  write(target: Buffer, offset: number): number
}

const VARINT = 0
const LENGTH = 2

const sizeOfVarint = (value: number): number => {
  let size = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1
  return size
}

const writeVarint = (target: Buffer, offset: number, value: number): number => {
  let [end, rest] = [offset, value]
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) target[end++] = (rest % 0x80) | 0x80
  target[end++] = rest
  return end
}

const sized = (number: number, length: number, writeValue: (target: Buffer, offset: number) => number): Field => {
  const tag = number * 8 + LENGTH
  return {
    size: sizeOfVarint(tag) + sizeOfVarint(length) + length,
    write: (target, offset) => writeValue(target, writeVarint(target, writeVarint(target, offset, tag), length)),
  }
}

/** A text, or bytes that are a text. */
export const textField = (number: number, value: string): Field =>
  sized(number, Buffer.byteLength(value), (target, offset) => offset + target.write(value, offset))

const writeAll = (fields: readonly Field[], target: Buffer, offset: number): number =>
  fields.reduce((end, field) => field.write(target, end), offset)

const sizeOf = (fields: readonly Field[]) => fields.reduce((sum, { size }) => sum + size, 0)

export const messageField = (number: number, fields: readonly Field[]): Field =>
  sized(number, sizeOf(fields), (target, offset) => writeAll(fields, target, offset))

/** An unsigned number of at most 64 bits. */
export const uint64Field = (number: number, value: bigint): Field => {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  const tag = number * 8 + VARINT
  return {
    size: sizeOfVarint(tag) + bytes.length,
    write: (target, offset) => {
      const start = writeVarint(target, offset, tag)
      target.set(bytes, start)
      return start + bytes.length
    },
  }
}

/** A whole message. */
export const encodeMessage = (fields: readonly Field[]): Buffer => {
  const target = Buffer.allocUnsafe(sizeOf(fields))
  writeAll(fields, target, 0)
  return target
}
