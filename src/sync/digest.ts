import { hash } from 'node:crypto'

/** The same 128 bits as they are. */
export const digestBytes = (text: string): Uint8Array => hash('sha256', text, 'buffer').subarray(0, 16)

/** The first 128 bits of the SHA-256 of a text, as 22 characters of base64url: safe in paths and file names. */
export const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22)
