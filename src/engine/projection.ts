import type { Actor } from '../log/metadata.ts'
import type { DomainEvent } from './stream.ts'

/** A recorded event with its data decoded and its metadata taken apart, as projections and caches get it. */
export type DecodedEvent<Event extends DomainEvent = DomainEvent> = Event & {
  /** The part of the stream's name behind its category. */
  readonly streamId: string
  readonly stream: string
  readonly revision: bigint
  readonly position: bigint
  /** When it was recorded, in milliseconds. */
  readonly at: number
  readonly actor: Actor | undefined
  /** Length of the data's JSON text, in characters. */
  readonly bytes: number
}

/** Sends one statement of the batch's transaction, in order. Under a name it is prepared once; the name is its text's. */
export type WriteStatement = (name: string, text: string, values: readonly unknown[]) => void

type Handlers<Event extends DomainEvent, Changes> = {
  readonly [Type in Event['type']]:
    'ignored' | ((changes: Changes, event: DecodedEvent<Extract<Event, { type: Type }>>) => void)
}

/**
 * One read model: its tables, what each event type does to it, and how the changes of a batch are written as sets.
 * Handlers collect into `changes`, in the order of the log; every event type is handled or named as ignored.
 */
export type Projection<Event extends DomainEvent = DomainEvent, Changes = unknown> = {
  readonly name: string
  /** Tables with their primary keys, as SQL without a schema name. */
  readonly tables: string
  /** Whose rows a table holds: by a stream's category the column that holds the id of the stream. */
  readonly rows: { readonly [table: string]: { readonly [category: string]: string } }
  /** For rows that hold sums over a stream's: what comes before the rows of a stream are taken away, to be made anew. */
  readonly beforeRemoval?: { readonly [category: string]: (id: string, write: WriteStatement) => void }
  /** Secondary indexes, made once a rebuild has copied everything. */
  readonly indexes: string
  readonly start: () => Changes
  readonly on: Handlers<Event, Changes>
  readonly write: (changes: Changes, write: WriteStatement) => void
  /** An event of a stream was passed over for good: nothing of it counts, but the stream's revision has moved on. */
  readonly onSkipped?: (changes: Changes, event: DecodedEvent) => void
}

/** The type under which projections meet an event that was passed over. */
export const SKIPPED = 'skipped'

/** Types a projection over a union of events, and forgets the type of its changes. */
export const projectionOf =
  <Event extends DomainEvent>() =>
  <Changes>(projection: Projection<Event, Changes>): Projection =>
    projection as unknown as Projection

/** Runs a batch through a read model and sends what follows from it. */
export const project = (projection: Projection, events: readonly DecodedEvent[], write: WriteStatement): void => {
  const changes = projection.start()
  const handlers = projection.on as Readonly<
    Record<string, 'ignored' | ((changes: unknown, event: DecodedEvent) => void)>
  >
  for (const event of events) {
    if (event.type === SKIPPED) {
      projection.onSkipped?.(changes, event)
      continue
    }
    const handler = handlers[event.type]
    if (handler === undefined) throw new Error(`${projection.name} does not know ${event.type}`)
    if (handler !== 'ignored') handler(changes, event)
  }
  projection.write(changes, write)
}
