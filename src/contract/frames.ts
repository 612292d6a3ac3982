import { z } from 'zod'

/** The longest frame that a client may send, in bytes; a longer one closes the connection with 1009. */
export const MAX_FRAME_BYTES = 64 * 1024

const id = z.string().max(256)

/** What a client sends. */
export const ClientFrame = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('subscribe'),
    id,
    query: z.string().max(256),
    args: z.record(z.string(), z.unknown()).default({}),
  }),
  z.object({ type: z.literal('unsubscribe'), id }),
  z.object({ type: z.literal('ping') }),
  z.object({ type: z.literal('pong') }), // the service never sends a ping; like any frame, it shows that the client is alive
])
export type ClientFrame = z.infer<typeof ClientFrame>

/** An example of a valid frame, for errors and the reference. */
export const EXAMPLE_FRAME = '{"type":"subscribe","id":"feed","query":"feed:getPublicTraces","args":{"limit":10}}'

/** An error; its code is one of the HTTP API. */
export type FrameError = { readonly code: string; readonly message: string; readonly details?: unknown }

/** What the service sends. An error with the id of a subscription ends that subscription. */
export type ServerFrame =
  | { readonly type: 'result'; readonly id: string; readonly value: unknown }
  | { readonly type: 'error'; readonly id?: string; readonly error: FrameError }
  | { readonly type: 'pong' }
