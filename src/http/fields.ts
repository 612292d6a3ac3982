import { z } from 'zod'

/** Kinds of members that bodies and answers have in common, each with what the reference says of it. */

/** What the OpenAPI document shows as a device's secret: refused, for all who sent it as it stands would be one user. */
export const EXAMPLE_DEVICE_ID = 'replace-this-by-32-random-characters'

export const EXAMPLE_ID = '0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b'
const EXAMPLE_TIME = Date.UTC(2026, 0, 2, 15, 4, 5)

/** Text that the service gives. */
export const text = (description: string, ...examples: string[]) =>
  z.string().meta({ description, ...(examples.length > 0 ? { examples } : {}) })

/** The id that the service has given to something: a UUID, to be taken as opaque. */
export const id = (of: string) => text(`The id of ${of}`, EXAMPLE_ID)

/** A point in time, in milliseconds since 1970. */
export const time = (description: string) =>
  z.int().meta({ description: `${description}, in milliseconds since 1970`, examples: [EXAMPLE_TIME] })

export const count = (description: string) => z.int().meta({ description, examples: [3] })

export const flag = (description: string) => z.boolean().meta({ description })

/** An answer that says no more than that something was done. */
export const done = (description: string) => z.literal(true).meta({ description })

/** Where a list goes on. */
export const nextCursor = z
  .string()
  .meta({ description: 'The `cursor` of the next page; absent on the last page' })
  .optional()
