import { randomUUIDv7 } from 'node:crypto'
import type { NewEvent } from '../log/log.ts'
import type { Actor, Metadata } from '../log/metadata.ts'
import type { Codec } from './codec.ts'
import type { Decision, DomainEvent, Loaded, StreamKind } from './stream.ts'

/** Who asks, and in which request: recorded with each event. */
export type Context = { readonly actor?: Actor | undefined; readonly requestId?: string | undefined }

export type Command<State, Event, Need, Answer> = {
  readonly decide: Decision<State, Event>
  /** Made of the state right after the decision, before any later command changes it. */
  readonly answer: (state: State, events: readonly Event[]) => Answer
  /** What the state must hold besides what is always loaded. */
  readonly need?: Need
}

export type PendingCommand<State, Event, Need> = {
  readonly command: Command<State, Event, Need, unknown>
  readonly context: Context
}

export type CommandResult = { readonly answer: unknown } | { readonly error: unknown }

/** An event that will be appended, with its data as the log gets it. */
export type EventToAppend<Event> = {
  readonly event: Event
  readonly context: Context
  readonly at: number
  readonly data: string
  readonly schema: number
}

/** What a run of commands came to: their verdicts, in order, for as many as were decided. */
export type DecidedBatch<State, Event> = {
  readonly after: Loaded<State>
  readonly toAppend: readonly EventToAppend<Event>[]
  readonly results: readonly CommandResult[]
  /** The last command failed while it was changing the state, which is good for nothing now. The drafts are. */
  readonly isStateUnusable: boolean
}

/** About how much data, in characters, one append takes before the commands that are left have to wait for the next. */
const APPEND_LENGTH = 4 * 1024 * 1024

const settle = <T>(work: () => T): { readonly value: T } | { readonly error: unknown } => {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}

/** The events that a command leads to, written down; `at` is when they happen. */
const eventsOf = <State, Event extends DomainEvent, Need>(
  codec: Codec,
  { command, context }: PendingCommand<State, Event, Need>,
  state: State,
  { now, at }: { readonly now: number; readonly at: number },
): EventToAppend<Event>[] =>
  command.decide(state, now, at).map((event) => ({ event, context, at, ...codec.encode(event) }))

/** The state that a command's events lead to, and its answer. */
const applyEvents = <State, Event extends DomainEvent, Need>(
  kind: StreamKind<State, Event>,
  { command, context: { actor } }: PendingCommand<State, Event, Need>,
  state: State,
  drafts: readonly EventToAppend<Event>[],
) => {
  const after = drafts.reduce((before, { event, at }) => kind.evolve(before, event, { at, actor }), state)
  const events = drafts.map(({ event }) => event)
  return { after, answer: command.answer(after, events) }
}

/**
 * Decides commands one after the other on one evolving state, as many as belong into one append. Of a command either
 * every event is kept or none: when it fails while the state changes, nothing more is decided on that state.
 */
export const decideAll = <State, Event extends DomainEvent, Need>(
  kind: StreamKind<State, Event>,
  codec: Codec,
  loaded: Loaded<State>,
  commands: readonly PendingCommand<State, Event, Need>[],
  now: () => number,
): DecidedBatch<State, Event> => {
  let { state, at } = loaded
  let length = 0
  let isStateUnusable = false
  const toAppend: EventToAppend<Event>[] = []
  const results: CommandResult[] = []
  for (const pending of commands) {
    if (isStateUnusable || length > APPEND_LENGTH) break
    const real = now()
    const drafted = settle(() => eventsOf(codec, pending, state, { now: real, at: Math.max(real, at) }))
    const events = 'value' in drafted ? drafted.value : []
    const done = 'value' in drafted ? settle(() => applyEvents(kind, pending, state, events)) : drafted
    if ('error' in done) {
      results.push(done)
      isStateUnusable = events.length > 0
    } else {
      results.push({ answer: done.value.answer })
      state = done.value.after
      at = events.at(-1)?.at ?? at
      length += events.reduce((sum, { data }) => sum + data.length, 0)
      toAppend.push(...events)
    }
  }
  return { after: { ...loaded, state, at }, toAppend, results, isStateUnusable }
}

/** Gives drafts their ids and metadata, as the events of one append. */
export const toNewEvents = <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  drafts: readonly EventToAppend<Event>[],
): NewEvent[] => {
  const kept = kind.condense ? new Set(kind.condense(drafts.map(({ event }) => event))) : undefined
  const written = kept ? drafts.filter(({ event }) => kept.has(event)) : drafts
  const id = randomUUIDv7()
  return written.map(({ event, context, at, data, schema }, index) => {
    const metadata = { at, ...context, schema, append: { id, index, size: written.length } } as Metadata
    const decoded = { data: event.data, metadata }
    return { id: randomUUIDv7(), type: event.type, data, metadata: JSON.stringify(metadata), decoded }
  })
}
