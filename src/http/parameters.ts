import { z } from 'zod'
import { isUnstorable } from '../json/exact.ts'
import { LONG_TEXT, SHORT_TEXT, isLongerThan } from '../text-limits.ts'

const MAX_KEY = 1_024

/** A name that clients choose: 1 to 1,024 characters, no NUL, no lone surrogate. */
export const Key = z
  .string()
  .min(1)
  .refine((text) => !isLongerThan(text, MAX_KEY), { error: `must not be longer than ${MAX_KEY} characters` })
  .refine((text) => !isUnstorable(text), { error: 'must not hold NUL or a lone surrogate' })
  .meta({ maxLength: MAX_KEY })

const textUpTo = (most: number) =>
  z
    .string()
    .refine((text) => !isLongerThan(text, most), { error: `must not be longer than ${most} characters` })
    .meta({ maxLength: most })

export const ShortText = textUpTo(SHORT_TEXT)
export const LongText = textUpTo(LONG_TEXT)

export const MAX_LIMIT = 1_000
export const DEFAULT_LIMIT = 50

/** `limit` in a query string: decimal digits; more than 1000 counts as 1000. */
export const Limit = z.string().regex(/^\d+$/, { error: 'must be a whole number' })

export const limitOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Math.min(Number(text), MAX_LIMIT)

/** A revision of a stream, as digits in a query string. */
export const Revision = z.string().regex(/^\d{1,16}$/, { error: 'must be a revision: a whole number from 0 on' })

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
