/** Reads a message in the wire format of protocol buffers, field by field. Only the values that are asked for are parsed. */
export type Fields = {
  /** The number of the next field, 0 at the end. */
  next(): number
  /** The value of the current field: an unsigned number of at most 64 bits. */
  uint64(): bigint
  /** The value of the current field: bytes, a text or a message. A view of the buffer, not a copy. */
  bytes(): Buffer
}

const VARINT = 0
const FIXED_64 = 1
const LENGTH = 2
const FIXED_32 = 5

const broken = () => new Error('the server sent an invalid protobuf message')

export const fieldsOf = (buffer: Buffer): Fields => {
  let offset = 0
  let kind = -1 // the wire type of the current field's value, -1 once it has been taken

  /** A number if it has at most 49 bits, otherwise a BigInt. */
  const varint = (): number | bigint => {
    let [value, factor] = [0, 1]
    for (let i = 0; i < 7; i++) {
      const byte = buffer[offset++]
      if (byte === undefined) throw broken()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 128
    }
    let long = BigInt(value)
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = buffer[offset++]
      if (byte === undefined) throw broken()
      long |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, long)
    }
    throw broken()
  }

  const skip = () => {
    if (kind === -1) return
    if (kind !== VARINT && kind !== LENGTH && kind !== FIXED_64 && kind !== FIXED_32) throw broken()
    const value = kind === VARINT || kind === LENGTH ? Number(varint()) : 0
    offset += kind === LENGTH ? value : kind === FIXED_64 ? 8 : kind === FIXED_32 ? 4 : 0
    kind = -1
  }

  const next = () => {
    skip()
    if (offset > buffer.length) throw broken()
    if (offset === buffer.length) return 0
    const tag = Number(varint())
    kind = tag & 7
    return Math.floor(tag / 8)
  }

  const take = (expected: number) => {
    if (kind !== expected) throw broken()
    kind = -1
    return varint()
  }

  const uint64 = () => BigInt(take(VARINT))

  const bytes = () => {
    const length = Number(take(LENGTH))
    offset += length
    if (offset > buffer.length) throw broken()
    return buffer.subarray(offset - length, offset)
  }

  return { next, uint64, bytes }
}
