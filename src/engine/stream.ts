import { z } from 'zod'
import type { ExpectedRevision, RecordedEvent } from '../log/log.ts'
import type { Actor } from '../log/metadata.ts'

/** Something that happened: the type in the past tense, the data as its schema says. */
export type DomainEvent = { readonly type: string; readonly data: object }

/** When it happened (ms) and who did it. */
export type EventContext = { readonly at: number; readonly actor?: Actor | undefined }

/**
 * A state, the revision that its stream had then, when its last event happened (ms, 0 for none), and a position that
 * the read models must pass before they show this state (0n when they do already).
 */
export type Loaded<State> = {
  readonly state: State
  readonly revision: ExpectedRevision
  readonly at: number
  readonly position: bigint
}

/**
 * One kind of stream: which events it holds and how they add up to a state.
 * A stream's name is `<category>-<id>`, the id a UUID. `evolve` owns the state it is given and may change it.
 */
export type StreamKind<State, Event extends DomainEvent> = {
  readonly category: string
  readonly events: z.ZodType<Event>
  readonly initial: () => State
  readonly evolve: (state: State, event: Event, context: EventContext) => State
  /** About how many bytes a state takes in memory, rather more than less. */
  readonly weigh: (state: State) => number
  /** Leaves out what a later event of the same append makes superfluous. */
  readonly condense?: (events: readonly Event[]) => readonly Event[]
}

/**
 * Looks at the state and returns the events that follow; none when it already holds. May throw `Rejected`. `now` is the
 * real time, for whatever expires; `at` is when the events will be said to have happened. Both in milliseconds: `at` is
 * later when the stream has an event of a clock that was ahead, because times never go back within a stream.
 */
export type Decision<State, Event> = (state: State, now: number, at: number) => readonly Event[]

export const streamName = (kind: { readonly category: string }, id: string): string => `${kind.category}-${id}`

/** The id within a stream's name. */
export const streamIdOf = (event: Pick<RecordedEvent, 'stream'>): string =>
  event.stream.slice(event.stream.indexOf('-') + 1)

/** The schema of one event type. */
export const event = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, data: Shape) =>
  z.object({ type: z.literal(type), data: z.object(data) })
