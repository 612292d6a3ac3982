import { z } from 'zod'

const MILLISECONDS = /^\d{1,15}$/
// A zone may come with a space for its plus: that is what a plus means in a query string.
const ISO = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+\- ]\d{2}:?\d{2})$/i

/** Milliseconds since 1970; undefined for a text that is no time. */
const parse = (text: string): number | undefined => {
  if (MILLISECONDS.test(text)) return Number(text)
  const date = ISO.exec(text)?.[1]
  // 30 February would become 2 March.
  if (date === undefined || new Date(`${date}T00:00Z`).toJSON()?.slice(0, 10) !== date) return undefined
  const ms = Date.parse(text.replace(' ', '+'))
  return Number.isNaN(ms) ? undefined : ms
}

/** A time in a query string, as milliseconds since 1970 or as ISO 8601 with a zone; gives the milliseconds. */
export const aTime = (description: string, examples = ['2026-01-02T15:04:05Z']) =>
  z
    .string()
    .refine((text) => parse(text) !== undefined, {
      error: 'must be milliseconds since 1970, or a date and time as in ISO 8601 with a zone',
    })
    .meta({
      description: `${description}: milliseconds since 1970, or a date and time as in ISO 8601 with a zone`,
      ...(examples.length > 0 ? { examples } : {}),
    })
    .transform((text) => parse(text)!)
