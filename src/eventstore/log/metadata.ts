import { z } from 'zod'

/** Who caused an event. Absent if the service itself did. */
export const Actor = z.object({ userId: z.string(), sessionId: z.string().optional() })
export type Actor = z.infer<typeof Actor>

/** The append of an event, of which readers see all events or none. `index` counts from 0. */
const AppendMark = z.object({ id: z.string(), index: z.int(), size: z.int() })
type AppendMark = z.infer<typeof AppendMark>

/**
 * Recorded with every event. `at` is the service's clock in milliseconds, never less than that of the stream's previous event.
 * `schema` is the version of the data's schema, for upcasters.
 */
export const Metadata = z.object({
  at: z.int(),
  actor: Actor.optional(),
  requestId: z.string().optional(),
  schema: z.int(),
  append: AppendMark,
})
export type Metadata = z.infer<typeof Metadata>

const cache = new WeakMap<object, Metadata>()

type WithMetadata = {
  readonly id: string
  readonly metadata: string
  readonly decoded?: { readonly metadata: Metadata }
}

const isUsable = (value: Partial<Metadata> | null): value is Metadata =>
  typeof value?.at === 'number' &&
  typeof value.schema === 'number' &&
  typeof value.append?.id === 'string' &&
  typeof value.append.index === 'number' &&
  typeof value.append.size === 'number'

/** Used for metadata of another shape: the event counts as an append of its own, and no codec knows version 0. */
const unusable = ({ id }: WithMetadata): Metadata => ({ at: 0, schema: 0, append: { id, index: 0, size: 1 } })

/** The metadata of an event, parsed once. Does not throw for metadata of another shape, so that later events can be read. */
export const metadataOf = (event: WithMetadata): Metadata => {
  if (event.decoded) return event.decoded.metadata
  let metadata = cache.get(event)
  if (!metadata) {
    const value = JSON.parse(event.metadata) as Partial<Metadata> | null
    metadata = isUsable(value) ? value : unusable(event)
    cache.set(event, metadata)
  }
  return metadata
}
