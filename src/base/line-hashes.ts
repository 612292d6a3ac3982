import { createHmac, hash } from 'node:crypto'
import { comparedLine, isWeakLine } from './compared-lines.ts'

/** The number of bytes of a key. */
export const KEY_BYTES = 32

/** The name of a key, by which it is told apart from others without saying anything of it: 8 hex digits. */
export const keyIdOf = (secret: Uint8Array): string => hash('sha256', secret).slice(0, 8)

const DIGITS = 16

/** The hash of a line, as 16 lower-case hex digits. Undefined for a weak line. */
export type HashLine = (line: string) => string | undefined

/** Hashes lines with a key: without it nobody can find out which line a hash stands for by trying lines. */
export const newHashLine =
  (secret: Uint8Array): HashLine =>
  (line) => {
    const compared = comparedLine(line)
    if (isWeakLine(compared)) return undefined
    return createHmac('sha256', secret).update(compared, 'utf8').digest('hex').slice(0, DIGITS)
  }

/** A hash as the signed integer of 64 bits that the database stores. */
export const toInt8 = (hexDigits: string): bigint => BigInt.asIntN(64, BigInt(`0x${hexDigits}`))
