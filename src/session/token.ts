import { randomBytes } from 'node:crypto'
import { sha256 } from '../base/ids.ts'

const FORMAT = /^tb_[\w-]{43}$/

/** A new session token: 256 random bits. */
export const newToken = (): string => `tb_${randomBytes(32).toString('base64url')}`

/** Whether a text has the form of a token. Others are refused without a query. */
export const isToken = (text: string): boolean => FORMAT.test(text)

/** The hash of a token, which is stored in its place. */
export const tokenHash = (token: string): string => sha256(token)
