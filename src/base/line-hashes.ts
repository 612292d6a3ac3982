import { createHmac, hash, randomBytes } from 'node:crypto'
import { comparedLine, isWeakLine } from './compared-lines.ts'

const KEY_BYTES = 32

/** A new key for the hashes of lines. */
export const newLineKey = (): Buffer => randomBytes(KEY_BYTES)

/** The name of a key, by which it is told apart from others without saying anything of it: 8 hex digits. */
export const keyIdOf = (secret: Uint8Array): string => hash('sha256', secret).slice(0, 8)

/** The first 8 bytes of the HMAC of a text: nobody can find out without the key which text they stand for by trying texts. */
const digestOf = (secret: Uint8Array, text: string): Buffer =>
  createHmac('sha256', secret).update(text, 'utf8').digest().subarray(0, 8)

/** The keyed hash of a text as a signed integer of 64 bits, as the database stores it. */
export type KeyedHash = (text: string) => bigint

export const newKeyedHash =
  (secret: Uint8Array): KeyedHash =>
  (text) =>
    digestOf(secret, text).readBigInt64BE()

/** The hash of a line, as 16 lower-case hex digits. Undefined for a weak line. */
export type HashLine = (line: string) => string | undefined

export const newHashLine =
  (secret: Uint8Array): HashLine =>
  (line) => {
    const compared = comparedLine(line)
    return isWeakLine(compared) ? undefined : digestOf(secret, compared).toString('hex')
  }

/** The signed integer that `KeyedHash` gives for the line with this hash. */
export const toInt8 = (hexDigits: string): bigint => BigInt.asIntN(64, BigInt(`0x${hexDigits}`))
