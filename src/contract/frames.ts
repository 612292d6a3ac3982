import { z } from 'zod'

/** The longest frame that a client may send, in bytes; a longer one closes the connection with 1009. */
export const MAX_FRAME_BYTES = 64 * 1024

const id = z.string().max(256)

/** What a client says. */
export const ClientFrame = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('subscribe'),
    id,
    query: z.string().max(256),
    args: z.record(z.string(), z.unknown()).default({}),
  }),
  z.object({ type: z.literal('unsubscribe'), id }),
  z.object({ type: z.literal('ping') }),
  z.object({ type: z.literal('pong') }), // nothing asks for it; like any frame it is a sign of life
])
export type ClientFrame = z.infer<typeof ClientFrame>

/** A frame as it should be, for a client that has sent another. */
export const EXAMPLE_FRAME = '{"type":"subscribe","id":"feed","query":"feed:getPublicTraces","args":{"limit":10}}'

/** What went wrong: the codes are those of the REST API. */
export type FrameError = { readonly code: string; readonly message: string; readonly details?: unknown }

/** What the service says. An error with the id of a subscription ends that subscription. */
export type ServerFrame =
  | { readonly type: 'result'; readonly id: string; readonly value: unknown }
  | { readonly type: 'error'; readonly id?: string; readonly error: FrameError }
  | { readonly type: 'pong' }
