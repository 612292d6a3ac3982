import type { NewEvent, PlacedEvent } from '../log/log.ts'
import type { Actor, Metadata } from '../log/metadata.ts'
import type { Codec } from './codec.ts'
import {
  type CheckRevision,
  type Decision,
  type DecisionWithResult,
  type DomainEvent,
  type EventsWithResult,
  type Loaded,
  type StreamKind,
  shownRevision,
} from './stream.ts'
import { newUuid } from '../../base/uuid.ts'

/** The caller and the request of a command; recorded with each event. */
export type Context = {
  readonly actor?: Actor | undefined
  readonly requestId?: string | undefined
  /** Called with the stream's last event once a command is answered: of its append, or of the state that it was decided on. */
  readonly noteLastEvent?: (last: PlacedEvent) => void
}

export type Command<State, Event, Need, Answer, Result = void> = {
  readonly decide: Decision<State, Event> | DecisionWithResult<State, Event, Result>
  /**
   * Computes the answer, right after the decision and before a later command of the same batch changes the state: from the
   * state, the decision's events, and its result if it has one.
   */
  readonly answer: (state: State, events: readonly Event[], result: NoInfer<Result>) => Answer
  /** The parts of the state that this command needs, besides those that are always loaded. */
  readonly need?: Need
  /** A command with it is decided alone: of several that are appended together, only the first knows the revision before its events. */
  readonly checkRevision?: CheckRevision<State, Event> | undefined
}

/** A command that has not been decided. */
export type PendingCommand<State, Event, Need> = {
  readonly command: Command<State, Event, Need, unknown, unknown>
  readonly context: Context
}

/** The answer of a command, or the error that refuses it. */
export type CommandResult = { readonly answer: unknown } | { readonly error: unknown }

/** An event of a decision, with its data encoded for the log. */
export type EventToAppend<Event> = {
  readonly event: Event
  readonly context: Context
  /** Milliseconds. */
  readonly at: number
  /** JSON text. */
  readonly data: string
  readonly schemaVersion: number
}

/** The decisions about a batch of commands. The state `after` them is a draft (`StreamKind`). */
export type DecidedBatch<State, Event> = {
  readonly after: Loaded<State>
  readonly toAppend: readonly EventToAppend<Event>[]
  /** In the order of the commands; fewer than these if the append was full. */
  readonly results: readonly CommandResult[]
}

/** About how many characters of data one append may hold before the remaining commands wait for the next append. */
const APPEND_LENGTH = 4 * 1024 * 1024

const attempt = <T>(work: () => T): { readonly value: T } | { readonly error: unknown } => {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}

const withResult = <Event>(
  decided: readonly Event[] | EventsWithResult<Event, unknown>,
): EventsWithResult<Event, unknown> => ('events' in decided ? decided : { events: decided, result: undefined })

/** The encoded events of a command, and the result of its decision. */
type DecidedOne<Event> = { readonly toAppend: readonly EventToAppend<Event>[]; readonly result: unknown }

/** Decides a command on the state of a stream, and encodes its events with the time `at`. */
const decideOne = <State, Event extends DomainEvent, Need>(
  codec: Codec,
  { command, context }: PendingCommand<State, Event, Need>,
  { state, at, ...stream }: Pick<Loaded<State>, 'state' | 'at' | 'revision' | 'shown'>,
  now: number,
): DecidedOne<Event> => {
  const { events, result } = withResult(command.decide(state, now, at))
  command.checkRevision?.(state, shownRevision(stream), events)
  return { toAppend: events.map((event) => ({ event, context, at, ...codec.encode(event) })), result }
}

const evolveAll = <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  state: State,
  events: readonly EventToAppend<Event>[],
): State =>
  events.reduce((before, { event, context: { actor }, at }) => kind.evolve(before, event, { at, actor }), state)

/** Applies the events of a command to the state, and computes the command's answer. */
const evolveAndAnswer = <State, Event extends DomainEvent, Need>(
  kind: StreamKind<State, Event>,
  { command }: PendingCommand<State, Event, Need>,
  state: State,
  { toAppend, result }: DecidedOne<Event>,
) => {
  const after = evolveAll(kind, state, toAppend)
  const answer = command.answer(
    after,
    toAppend.map(({ event }) => event),
    result,
  )
  return { after, answer, events: toAppend }
}

/**
 * Decides commands one after the other, each on the state after the one before, until they fill one append. Takes all events of a
 * command or none, and leaves the loaded state as it is. `now` is the clock, in milliseconds.
 */
export const decideAll = <State, Event extends DomainEvent, Need>(
  kind: StreamKind<State, Event>,
  codec: Codec,
  loaded: Loaded<State>,
  commands: readonly PendingCommand<State, Event, Need>[],
  now: () => number,
): DecidedBatch<State, Event> => {
  const draft = () => kind.draft?.(loaded.state) ?? loaded.state
  let { at } = loaded
  let state = draft()
  let length = 0
  const toAppend: EventToAppend<Event>[] = []
  const results: CommandResult[] = []
  for (const pending of commands) {
    if (length > APPEND_LENGTH) break
    const time = now()
    const decided = attempt(() => decideOne(codec, pending, { ...loaded, state, at: Math.max(time, at) }, time))
    const done = 'value' in decided ? attempt(() => evolveAndAnswer(kind, pending, state, decided.value)) : decided
    if ('error' in done) {
      results.push(done)
      // `evolve` may have failed half-way: the events of the commands before are applied again, to a new draft.
      if ('value' in decided) state = evolveAll(kind, draft(), toAppend)
    } else {
      const { answer, after, events } = done.value
      results.push({ answer })
      state = after
      at = events.at(-1)?.at ?? at
      length += events.reduce((sum, { data }) => sum + data.length, 0)
      toAppend.push(...events)
    }
  }
  return { after: { ...loaded, state, at }, toAppend, results }
}

/** Makes the metadata of one append's events, and their JSON text. What the events of a command have in common is written once. */
const newMetadata = (id: string, size: number) => {
  let last:
    { readonly at: number; readonly context: Context; readonly common: object; readonly text: string } | undefined
  return ({ at, context, schemaVersion: schema }: EventToAppend<unknown>, index: number) => {
    if (last?.context !== context || last.at !== at) {
      const { noteLastEvent: _, ...recorded } = context
      const common = { at, ...recorded }
      last = { at, context, common, text: JSON.stringify(common).slice(0, -1) }
    }
    const metadata = { ...last.common, schema, append: { id, index, size } } as Metadata
    return {
      metadata,
      text: `${last.text},"schema":${schema},"append":{"id":"${id}","index":${index},"size":${size}}}`,
    }
  }
}

/** Gives the events of one append their ids and metadata, without those that `kind.condense` finds superfluous. */
export const toNewEvents = <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  decided: readonly EventToAppend<Event>[],
): NewEvent[] => {
  const needed = kind.condense ? new Set(kind.condense(decided.map(({ event }) => event))) : undefined
  const appended = needed ? decided.filter(({ event }) => needed.has(event)) : decided
  const metadataOf = newMetadata(newUuid(), appended.length)
  return appended.map((one, index) => {
    const { metadata, text } = metadataOf(one, index)
    const { event, data } = one
    return { id: newUuid(), type: event.type, data, metadata: text, decoded: { data: event.data, metadata } }
  })
}
