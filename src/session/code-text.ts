import { randomInt } from 'node:crypto'

/** Crockford's base 32: digits and letters without those that are easily misread. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const GROUPS = 5
const GROUP = 4
const FORMAT = /^[0-9A-HJKMNP-TV-Z]{20}$/

const newGroup = () => Array.from({ length: GROUP }, () => ALPHABET[randomInt(ALPHABET.length)]!).join('')

/** A new one-time code of 100 random bits, to be typed on another machine: `4F7K-…`. */
export const newCode = (): string => Array.from({ length: GROUPS }, newGroup).join('-')

/** A code as it was meant: in upper case without separators, with digits for the letters that look like them. */
export const normalizedCode = (text: string): string =>
  text.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')

/** Whether a text has the form of a code. Others are unknown without a query. */
export const isCode = (text: string): boolean => FORMAT.test(normalizedCode(text))
