import { hash } from 'node:crypto'

/** The first 128 bits of the SHA-256 of a text in UTF-8. */
export const digestBytes = (text: Buffer): Uint8Array => hash('sha256', text, 'buffer').subarray(0, 16)

/** The same as 22 characters of base64url: safe in paths and file names. */
export const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22)
