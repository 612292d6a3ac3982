import { z } from 'zod'
import { formatsOf } from './formats.ts'
import { event } from './stream.ts'

/** Streams `quarantine-<id>`: what an operator decided about the events of another stream. */
export const QUARANTINE = 'quarantine'

/** An event that cannot be applied is passed over for good: `by` says who decided so, in words, and `why`. */
export const QuarantineEvent = z.discriminatedUnion('type', [
  event('EventSkipped', { stream: z.string(), eventId: z.string(), by: z.string(), why: z.string() }),
])
export type QuarantineEvent = z.infer<typeof QuarantineEvent>
export const quarantineFormats = formatsOf(QuarantineEvent)
