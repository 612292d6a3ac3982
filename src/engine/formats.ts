import type { z } from 'zod'
import type { EventFormat } from './codec.ts'

/** The schema of one event type, as `event` makes it. */
type EventSchema = z.ZodObject<{ readonly type: z.ZodLiteral<string>; readonly data: z.ZodType }>

/** How the events of a union are written and read: each at version 1, its data as plain JSON text. */
export const formatsOf = (union: { readonly options: readonly EventSchema[] }): Readonly<Record<string, EventFormat>> =>
  Object.fromEntries(union.options.map(({ shape }) => [shape.type.value, { schema: shape.data, version: 1 }]))
