import { z } from 'zod'
import { isUnstorable } from '../base/json/exact.ts'
import { LONG_TEXT, SHORT_TEXT, isLongerThan } from '../base/texts.ts'
import { EXAMPLE_SLUG } from './fields.ts'
import { aTime } from './times.ts'

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

/** `limit` in a query: decimal digits; more than 1000 counts as 1000. Its words are those of the text: JSON Schema takes no examples of a transformed one. */
export const Limit = z
  .string()
  .regex(/^\d+$/, { error: 'must be a whole number' })
  .meta({
    type: 'integer',
    pattern: undefined,
    minimum: 0,
    description: 'At most this many entries; above 1000 counts as 1000. Default: 50',
    examples: [20],
  })
  .transform((text) => Math.min(Number(text), MAX_LIMIT))

/** Where a list goes on. */
export const Cursor = z
  .string()
  .meta({ description: 'Where to go on: `nextCursor` of the page before. Absent: the first page' })

/** A flag in a query: `true`; anything else is `false`. */
export const isTrue = (text: string): boolean => text === 'true'

/** A revision of a stream, as digits. */
export const aRevision = (description: string, ...examples: unknown[]) =>
  z
    .string()
    .regex(/^\d{1,16}$/, { error: 'must be a revision: a whole number from 0 on' })
    .meta({ description, ...(examples.length > 0 ? { examples } : {}) })
    .transform((text) => BigInt(text))

/** The externalId of a trace, in a path. */
export const TraceKey = Key.meta({
  description: 'The id that the client has chosen for the trace',
  examples: ['my-first-session'],
})

/** The slug of a namespace, in a path. */
export const Slug = Key.meta({ description: 'The slug of the namespace', examples: [EXAMPLE_SLUG] })

/** Of which namespace the trace is that a path names. */
export const InNamespace = Key.meta({
  description: 'The slug of a namespace: only a trace of this namespace is meant',
  examples: [EXAMPLE_SLUG],
})

/** What the query of a read of a trace may say of the past. */
export const pastQuery = {
  revision: aRevision(
    'As it was after this revision of the trace, and the append that it is in; for members only',
  ).optional(),
  // Without an example, like the revision: a reader of the reference who fills in both would be refused.
  at: aTime('As it was at this time; for members only', []).optional(),
}
