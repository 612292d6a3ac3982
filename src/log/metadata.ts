import { z } from 'zod'

/** Who acted. Absent where the service itself did. */
export const Actor = z.object({ userId: z.string(), sessionId: z.string().optional() })
export type Actor = z.infer<typeof Actor>

/** The boundaries of an append: readers see all of its events or none. `index` counts from 0. */
export const AppendMark = z.object({ id: z.string(), index: z.int(), size: z.int() })
export type AppendMark = z.infer<typeof AppendMark>

/**
 * What is recorded with every event. `at` is ours, in milliseconds: never smaller than that of the stream's last event.
 * `schema` is the version of the event's data, for upcasters.
 */
export const Metadata = z.object({
  at: z.int(),
  actor: Actor.optional(),
  requestId: z.string().optional(),
  schema: z.int(),
  append: AppendMark,
})
export type Metadata = z.infer<typeof Metadata>

const parsed = new WeakMap<object, Metadata>()

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

/** Metadata that this code never wrote: the event is taken for an append of its own, in a version that nobody can read. */
const unusable = ({ id }: WithMetadata): Metadata => ({ at: 0, schema: 0, append: { id, index: 0, size: 1 } })

/** The metadata of an event, parsed once. Whatever stands there, it does not hold up the events behind it. */
export const metadataOf = (event: WithMetadata): Metadata => {
  if (event.decoded) return event.decoded.metadata
  let metadata = parsed.get(event)
  if (!metadata) {
    const value = JSON.parse(event.metadata) as Partial<Metadata> | null
    metadata = isUsable(value) ? value : unusable(event)
    parsed.set(event, metadata)
  }
  return metadata
}
