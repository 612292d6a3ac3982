import { randomBytes } from 'node:crypto'
import { sha256 } from '../ids.ts'

const FORMAT = /^tb_[\w-]{43}$/

/** A new session token: 256 random bits. */
export const newToken = (): string => `tb_${randomBytes(32).toString('base64url')}`

/** Whether a text has the form of a token; anything else is no token of ours and is never looked up. */
export const isToken = (text: string): boolean => FORMAT.test(text)

/** All that is kept of a token. */
export const tokenHash = (token: string): string => sha256(token)
