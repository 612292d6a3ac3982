import { z } from 'zod'
import type { Anchor, ExpectedRevision, RecordedEvent } from '../log/log.ts'
import type { Actor } from '../log/metadata.ts'

/** An event of the domain. Its type is in the past tense. */
export type DomainEvent = { readonly type: string; readonly data: object }

/** When an event was recorded (milliseconds), and who caused it. */
export type EventContext = { readonly at: number; readonly actor?: Actor | undefined }

/**
 * A state of a stream: the stream's revision, the time of its last event (milliseconds, 0 for none), and the position that read models
 * must have reached to show this state (0n if they already do).
 */
export type Loaded<State> = {
  readonly state: State
  readonly revision: ExpectedRevision
  /**
   * The revision of the last event that readers see, if it is not `revision`: a crash may have left records of an unfinished append after
   * it.
   */
  readonly shown?: ExpectedRevision | undefined
  readonly at: number
  readonly position: bigint
  /** The stream's last event, if it is known. */
  readonly anchor?: Anchor | undefined
}

/** The revision of a stream's last event that readers see, which read models have as well. */
export const shownRevision = ({ revision, shown = revision }: Pick<Loaded<unknown>, 'revision' | 'shown'>) => shown

/**
 * One kind of stream: its events, and how they are folded into a state. A stream's name is `<category>-<id>`, where the id is a UUID.
 * `evolve` may change the state that it gets, and returns the new one; a kind whose `evolve` does so has a `draft`.
 */
export type StreamKind<State, Event extends DomainEvent> = {
  readonly category: string
  readonly events: z.ZodType<Event>
  readonly initial: () => State
  readonly evolve: (state: State, event: Event, context: EventContext) => State
  /** A state of the same content, for `evolve` to change, which leaves the given one as it is. Default: the state itself. */
  readonly draft?: (state: State) => State
  /** The state to keep once the events of a draft are in the log. It may be the one that the draft was made of. Default: the draft. */
  readonly commit?: (draft: State) => State
  /** About how many bytes a state takes in memory. Rather too many than too few. */
  readonly sizeOf: (state: State) => number
  /** Leaves out events that a later event of the same append makes superfluous. */
  readonly condense?: (events: readonly Event[]) => readonly Event[]
}

/**
 * Returns the events of a command; none if the state is already as the command wants it. `now` is the clock, to be compared with
 * expiry times; `at` is the time that the events get. Both are milliseconds, and differ only if the clock is behind the stream's last
 * event: times never decrease within a stream.
 * @throws Rejected if the command is refused
 */
export type Decision<State, Event> = (state: State, now: number, at: number) => readonly Event[]

/** Events, and a result that the answer is computed from. */
export type EventsWithResult<Event, Result> = { readonly events: readonly Event[]; readonly result: Result }

/** A decision with a result, so that a decision returns all that it has found. */
export type DecisionWithResult<State, Event, Result> = (
  state: State,
  now: number,
  at: number,
) => EventsWithResult<Event, Result>

/**
 * Checks the revision of a stream before the decided events are appended to it: that of its last event, `'none'` for a stream without events.
 * @throws Rejected if the events must not be appended at this revision
 */
export type CheckRevision<State, Event> = (state: State, revision: ExpectedRevision, events: readonly Event[]) => void

export const streamName = (kind: { readonly category: string }, id: string): string => `${kind.category}-${id}`

/** The part of a stream's name behind its category. */
export const streamIdOf = (event: Pick<RecordedEvent, 'stream'>): string =>
  event.stream.slice(event.stream.indexOf('-') + 1)

/** The schema of one event type. */
export const event = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, data: Shape) =>
  z.object({ type: z.literal(type), data: z.object(data) })
