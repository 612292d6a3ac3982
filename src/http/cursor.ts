import type { z } from 'zod'

/** The cursor of a list: the sort keys of the last entry, encoded, because clients must not depend on them. */
export const encodeCursor = (...keys: (string | number | null)[]): string =>
  Buffer.from(JSON.stringify(keys)).toString('base64url')

/** The sort keys of a cursor; undefined for an invalid one. */
export const decodeCursor = <Keys extends z.ZodTuple>(text: string, keys: Keys): z.infer<Keys> | undefined => {
  try {
    return keys.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    return undefined
  }
}
