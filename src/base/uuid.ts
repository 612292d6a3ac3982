import crypto from 'node:crypto'
import { v7 } from 'uuid'

/** Converts UUIDs between text and bytes, digit by digit, without the garbage of intermediate strings. */

const TEXT_LENGTH = 36
const HYPHEN = '-'.charCodeAt(0)
const DIGITS = Buffer.from('0123456789abcdef')

/** The indexes of the 16 bytes, and of the hyphens, in `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`. */
const BYTE_INDEXES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const
const HYPHEN_INDEXES = [8, 13, 18, 23] as const

const NO_DIGIT = 16
const values = new Uint8Array(128).fill(NO_DIGIT)
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  values[digit.charCodeAt(0)] = value
  values[digit.toUpperCase().charCodeAt(0)] = value
}
const valueAt = (text: string, index: number): number => values[text.charCodeAt(index)] ?? NO_DIGIT

/**
 * Writes the 16 bytes of a UUID.
 * @throws RangeError for a text that is not a UUID
 */
export const writeUuid = (target: Uint8Array, uuid: string, offset: number): void => {
  let wrong = uuid.length !== TEXT_LENGTH
  for (let i = 0; i < 4; i++) wrong ||= uuid.charCodeAt(HYPHEN_INDEXES[i]!) !== HYPHEN // `some` would need a closure for each
  for (let i = 0; i < 16; i++) {
    const high = valueAt(uuid, BYTE_INDEXES[i]!)
    const low = valueAt(uuid, BYTE_INDEXES[i]! + 1)
    wrong ||= high === NO_DIGIT || low === NO_DIGIT
    target[offset + i] = (high << 4) | low
  }
  if (wrong) throw new RangeError(`not a UUID: ${uuid}`)
}

const scratch = Buffer.alloc(TEXT_LENGTH, HYPHEN)

/** The text of a UUID, in lower case, from its first 16 bytes. */
export const uuidText = (bytes: Uint8Array): string => {
  for (let i = 0; i < 16; i++) {
    const byte = bytes[i]!
    scratch[BYTE_INDEXES[i]!] = DIGITS[byte >> 4]!
    scratch[BYTE_INDEXES[i]! + 1] = DIGITS[byte & 15]!
  }
  return scratch.toString('latin1')
}

/** A new UUID of version 7, which sorts by time. Node's own where there is one: it is ten times as fast. */
export const newUuid: () => string = (crypto as Partial<typeof crypto>).randomUUIDv7 ?? v7
