import { z } from 'zod'
import { formatsOf } from '../../eventstore/engine/codec.ts'
import { event } from '../../eventstore/engine/stream.ts'

/** Stream `session-<id>`. Only the SHA-256 of the token is stored. Times are milliseconds. */
export const SessionEvent = z.discriminatedUnion('type', [
  event('SessionCreated', {
    userId: z.string(),
    identityId: z.string(),
    tokenHash: z.string(),
    namespaceId: z.string().optional(),
    parentSessionId: z.string().optional(),
    deviceName: z.string().optional(),
    expiresAt: z.int().optional(),
  }),
  event('SessionSwitched', { namespaceId: z.string() }),
  event('SessionRevoked', {}),
])
export type SessionEvent = z.infer<typeof SessionEvent>
export const sessionFormats = formatsOf(SessionEvent)
