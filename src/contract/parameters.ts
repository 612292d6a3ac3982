import { z } from 'zod'
import { isUnstorable } from '../base/json/exact.ts'
import { LONG_TEXT, SHORT_TEXT, isLongerThan } from '../base/texts.ts'
import { EXAMPLE_SLUG } from './fields.ts'

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

/** `limit` in a query: decimal digits; more than 1000 counts as 1000. `meta` comes before the transform, because JSON Schema omits it after a transform. */
export const Limit = z
  .string()
  .regex(/^\d+$/, { error: 'must be a whole number' })
  .meta({
    type: 'integer',
    pattern: undefined,
    minimum: 0,
    description: 'The maximum number of entries; a value above 1000 counts as 1000. Default: 50',
    examples: [20],
  })
  .transform((text) => Math.min(Number(text), MAX_LIMIT))

/** The position in a list where a page begins. */
export const Cursor = z.string().meta({ description: 'The `nextCursor` of the previous page. Default: the first page' })

/** Whether a flag in a query is set: `true`; any other text is `false`. */
export const isTrue = (text: string): boolean => text === 'true'

/** Whether a list has sub-agents. */
export const WithChildren = z
  .enum(['true', 'false'])
  .meta({
    description:
      '`false`: without the traces of sub-agents whose parent you may read; each trace says by `childCount` how many it has. Forks and resumed ' +
      'sessions stay. Default: `true`',
    examples: ['false'],
  })
  .transform(isTrue)

/** A revision of a stream, as digits. */
export const aRevision = (description: string, ...examples: unknown[]) =>
  z
    .string()
    .regex(/^\d{1,16}$/, { error: 'must be a revision: a whole number of at least 0' })
    .meta({ description, ...(examples.length > 0 ? { examples } : {}) })
    .transform((text) => BigInt(text))

/** The revision that a trace must have for a write to it. Without an example: the reference would fill it in, and the write be refused. */
export const IfRevision = aRevision(
  'Writes only while the trace is at this revision, the `revision` of an answer with its messages or of an earlier write. At another ' +
    'revision the answer is the error `changed`, and nothing is written; a request that has nothing to change is answered as always, so that ' +
    'it can be repeated if its answer was lost',
)

/** The errors of the parameters of a list. */
export const badPage =
  '`limit` is not a whole number, or `cursor` is not the `nextCursor` of this list. Take the cursor of the previous page unchanged.'

/** The errors of `revision` and `at`. */
export const badMoment =
  '`revision` is not a whole number, `at` is not a time, or both are given. Give one of them: a revision, milliseconds since 1970, or ' +
  'an ISO 8601 date and time with a zone.'

/** The externalId of a trace, in a path. */
export const TraceKey = Key.meta({
  description: 'The id that the client has chosen for the trace',
  examples: ['my-first-session'],
})

/** The slug of a namespace, in a path. */
export const Slug = Key.meta({ description: 'The slug of the namespace', examples: [EXAMPLE_SLUG] })

/** The namespace of the trace that a path names. */
export const InNamespace = Key.meta({
  description: 'The slug of a namespace: the path names a trace of this namespace only',
  examples: [EXAMPLE_SLUG],
})

const MILLISECONDS = /^\d{1,15}$/
// The plus of a zone may arrive as a space: that is what a plus means in a query string.
const ISO = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+\- ]\d{2}:?\d{2})$/i

/** Milliseconds since 1970; undefined if the text is not a time. */
const parse = (text: string): number | undefined => {
  if (MILLISECONDS.test(text)) return Number(text)
  const date = ISO.exec(text)?.[1]
  // `Date.parse` takes 30 February for 2 March.
  if (date === undefined || new Date(`${date}T00:00Z`).toJSON()?.slice(0, 10) !== date) return undefined
  const ms = Date.parse(text.replace(' ', '+'))
  return Number.isNaN(ms) ? undefined : ms
}

/** A time in a query string, as milliseconds since 1970 or as ISO 8601 with a zone; gives the milliseconds. */
export const aTime = (description: string, examples = ['2026-01-02T15:04:05Z']) =>
  z
    .string()
    .refine((text) => parse(text) !== undefined, {
      error: 'must be milliseconds since 1970, or an ISO 8601 date and time with a zone, such as 2026-01-02T15:04:05Z',
    })
    .meta({
      description: `${description}: milliseconds since 1970, or an ISO 8601 date and time with a zone`,
      ...(examples.length > 0 ? { examples } : {}),
    })
    .transform((text) => parse(text)!)

/** The parameters by which a trace is read as it was in the past. */
export const pastQuery = {
  revision: aRevision(
    'Shows the trace as it was after this revision and the append that the revision is part of. For members only',
  ).optional(),
  // Neither has an example: the reference would fill in both, which is refused.
  at: aTime('Shows the trace as it was at this time. For members only', []).optional(),
}
