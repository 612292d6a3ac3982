import { z } from 'zod'
import { isNegativeZero } from '../base/json/exact.ts'

/** Schemas of common fields of bodies and answers, with their descriptions for the API reference. */

/** The example of a `deviceId`. The service refuses it, because all clients that copied it would be the same user. */
export const EXAMPLE_DEVICE_ID = 'replace-this-by-32-random-characters'

/** The slug of the namespace that the examples create and use. */
export const EXAMPLE_SLUG = 'my-team'

export const EXAMPLE_ID = '0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b'
const EXAMPLE_TIME = Date.UTC(2026, 0, 2, 15, 4, 5)

/** A text in an answer. */
export const text = (description: string, ...examples: string[]) =>
  z.string().meta({ description, ...(examples.length > 0 ? { examples } : {}) })

/** An id of the service: a UUID. */
export const id = (of: string) => text(`The id of ${of}`, EXAMPLE_ID)

/** A point in time, in milliseconds since 1970. */
export const time = (description: string) =>
  z.int().meta({ description: `${description}, in milliseconds since 1970`, examples: [EXAMPLE_TIME] })

export const count = (description: string) => z.int().meta({ description, examples: [3] })

export const flag = (description: string) => z.boolean().meta({ description })

/** The only field of an answer that confirms a write; always `true`. */
export const done = (description: string) => z.literal(true).meta({ description })

/** A number that a double holds exactly: integers beyond 2^53 are refused; -0 is kept. */
export const PlainNumber = z
  .custom<number>((value) => typeof value === 'number' || isNegativeZero(value), { error: 'must be a number' })
  .meta({ type: 'number' })

/** The cursor of the next page. */
export const nextCursor = z
  .string()
  .meta({ description: 'The `cursor` of the next page; absent on the last page' })
  .optional()
