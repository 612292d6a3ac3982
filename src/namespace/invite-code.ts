import { randomBytes } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 9
/** Bytes from here on would make some characters likelier than others. */
const FAIR = 256 - (256 % ALPHABET.length)

/** A new invite code: 9 alphanumerics, each as likely as any other. */
export const newCode = (): string => {
  let code = ''
  while (code.length < LENGTH) {
    for (const byte of randomBytes(2 * LENGTH)) {
      if (byte < FAIR && code.length < LENGTH) code += ALPHABET[byte % ALPHABET.length]
    }
  }
  return code
}
