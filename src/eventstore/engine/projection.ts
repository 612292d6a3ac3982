import type pg from 'pg'
import type { Envelope } from './envelope.ts'
import type { DomainEvent } from './stream.ts'

/** A recorded event with its data decoded and its metadata taken apart, as projections and caches get it. */
export type DecodedEvent<Event extends DomainEvent = DomainEvent> = Event & Envelope

/**
 * Sends one statement of the batch's transaction; statements run in the order in which they are sent. A statement with a
 * name is prepared once for each connection, so a name must always have the same text. Without a name (`''`) it is not prepared.
 */
export type WriteStatement = (name: string, text: string, values: readonly unknown[]) => void

/** Reads rows within the batch's transaction, as the statements before have left them. A statement with a name is prepared. */
export type ReadRows = <Row extends object>(name: string, text: string, values: readonly unknown[]) => Promise<Row[]>

/** Sends the statements of a batch's transaction. */
export type Sender = {
  readonly read: ReadRows
  readonly write: WriteStatement
  /**
   * The connection, as a key under which a projection may remember what it has read. The projection has to check against the next events
   * whether that still holds: a transaction may be rolled back, and its events applied again.
   */
  readonly session: object
}

/** A part of the work that batches have left, for a transaction of its own. */
export type Portion = {
  /** The stream that the first of its rows is made from, and the position of the event; undefined if it writes no rows of a stream. */
  readonly first: { readonly stream: string; readonly position: bigint } | undefined
  /** How many rows it writes. */
  readonly rows: number
  readonly work: () => Promise<void>
}

/**
 * Work that takes too long for a batch, so that batches only record it. It is done in portions between batches, and all of it before a new schema
 * comes into use: the rows do not depend on the size of batches and portions.
 */
export type Backlog = {
  /** The next portion, with so many rows at most; undefined if no work is left. */
  readonly next: (sender: Sender, mostRows?: number) => Promise<Portion | undefined>
  /** Drops the work on a stream, by its id: it has an event that cannot be applied. */
  readonly drop: (id: string, write: WriteStatement) => void
}

export type UpkeepOptions = {
  readonly schema: string
  /** Whether the disk has room for so many bytes. */
  readonly hasRoom: (bytes: number) => boolean
  /** Aborts when the process does not lead any more. */
  readonly signal: AbortSignal
}

/**
 * Work on tables that takes minutes and changes no answer, so that none waits for it. While the runner has nothing else to do, it begins with it, on a
 * connection of its own; batches go on meanwhile. The connection may end at any time: then nothing may be left of what was not done.
 */
export type Upkeep = {
  /** Whether there is work; it is asked often. */
  readonly isDue: (read: ReadRows) => Promise<boolean>
  /** Does all that is due, on a connection with the schema on its search path. Returns false if some of it has to wait. */
  readonly run: (client: pg.ClientBase, options: UpkeepOptions) => Promise<boolean>
}

type Handlers<Event extends DomainEvent, Changes> = {
  readonly [Type in Event['type']]:
    'ignored' | ((changes: Changes, event: DecodedEvent<Extract<Event, { type: Type }>>) => void)
}

/**
 * One read model: its tables, handlers for the events of its kinds of streams, and set-based statements that write the changes of a
 * batch. Handlers collect into `changes`, in the order of the log. Each event type of these kinds has a handler or is `ignored`;
 * events of other kinds of streams have none.
 */
export type Projection<Event extends DomainEvent = DomainEvent, Changes = unknown> = {
  readonly name: string
  /** Tables with their primary keys, as SQL without a schema name. */
  readonly tables: string
  /** For each table, and each category of streams that its rows are made from, the column with the stream's id. */
  readonly rows: { readonly [table: string]: { readonly [category: string]: string } }
  /** For tables with sums over several streams: subtracts one stream's share before its rows are deleted for a replay. */
  readonly beforeRemoval?: { readonly [category: string]: (id: string, write: WriteStatement) => void }
  /** Called before the rows of a stream are deleted for a replay, by its id. */
  readonly beforeReplay?: { readonly [category: string]: (id: string, write: WriteStatement) => void }
  /** Secondary indexes, created when all events up to the log's head have been applied. */
  readonly indexes: string
  readonly start: () => Changes
  readonly on: Handlers<Event, Changes>
  readonly write: (changes: Changes, write: WriteStatement) => void
  /**
   * For rows that cannot be computed from the batch alone: reads rows that this batch and earlier ones have written, and writes further rows.
   * Each batch waits for it, so it must read few rows. Returns undefined if the batch needs no read.
   */
  readonly derive?: (changes: Changes, sender: Sender) => Promise<void> | undefined
  readonly backlog?: Backlog
  readonly upkeep?: Upkeep
  /** Tables, or columns as `table.column`, whose values depend on the size of batches and portions. */
  readonly notCompared?: readonly string[]
  /** For tables with a stream's revision: the event was skipped, but the revision has moved on. */
  readonly onSkipped?: (changes: Changes, event: DecodedEvent) => void
}

/** The type of the event that projections get for a skipped one. */
export const SKIPPED = 'skipped'

/**
 * Checks a projection against the union of the events of its kinds of streams, and against its own changes. The result's type
 * mentions neither, so that different projections fit into one list.
 */
export const projectionOf =
  <Event extends DomainEvent>() =>
  <Changes>(projection: Projection<Event, Changes>): Projection =>
    projection as unknown as Projection

/** Runs a batch through a projection's handlers, and sends the statements that write the changes. Returns the changes. */
const project = (projection: Projection, events: readonly DecodedEvent[], write: WriteStatement): unknown => {
  const changes = projection.start()
  const handlers = projection.on as Readonly<
    Record<string, 'ignored' | undefined | ((changes: unknown, event: DecodedEvent) => void)>
  >
  for (const event of events) {
    if (event.type === SKIPPED) {
      projection.onSkipped?.(changes, event)
      continue
    }
    const handler = handlers[event.type]
    if (handler && handler !== 'ignored') handler(changes, event)
  }
  projection.write(changes, write)
  return changes
}

/**
 * Runs a batch through all projections, and sends the statements that write the changes. Where a projection has to read rows, their
 * reads are sent as well, and the promise settles once everything is sent; otherwise returns undefined.
 */
export const projectAll = (
  projections: readonly Projection[],
  events: readonly DecodedEvent[],
  sender: Sender,
): Promise<unknown> | undefined => {
  const changes = projections.map((projection) => project(projection, events, sender.write))
  const derived = projections.flatMap(({ derive }, i) => derive?.(changes[i], sender) ?? [])
  return derived.length === 0 ? undefined : Promise.all(derived)
}
