import { randomBytes } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 9
/** Larger bytes are skipped: with them, the first characters of the alphabet would occur more often. */
const UNBIASED = 256 - (256 % ALPHABET.length)

/** A random invite code of 9 letters and digits, about 53 bits. */
export const newInviteCode = (): string => {
  let code = ''
  while (code.length < LENGTH) {
    for (const byte of randomBytes(2 * LENGTH)) {
      if (byte < UNBIASED && code.length < LENGTH) code += ALPHABET[byte % ALPHABET.length]
    }
  }
  return code
}
