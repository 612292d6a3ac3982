import { randomUUIDv7 } from 'node:crypto'
import type { NewEvent } from '../log/log.ts'
import type { Actor, Metadata } from '../log/metadata.ts'
import type { Codec } from './codec.ts'
import type { Concluded, Decision, DecisionWithResult, DomainEvent, Loaded, StreamKind } from './stream.ts'

/** Who asks, and in which request: recorded with each event. */
export type Context = { readonly actor?: Actor | undefined; readonly requestId?: string | undefined }

export type Command<State, Event, Need, Answer, Result = void> = {
  readonly decide: Decision<State, Event> | DecisionWithResult<State, Event, Result>
  /**
   * Made of the state right after the decision, before any later command changes it, of the decision's events, and of its
   * result if it has one.
   */
  readonly answer: (state: State, events: readonly Event[], result: NoInfer<Result>) => Answer
  /** What the state must hold besides what is always loaded. */
  readonly need?: Need
}

export type Ask<State, Event, Need> = {
  readonly command: Command<State, Event, Need, unknown, unknown>
  readonly context: Context
}

export type Verdict = { readonly answer: unknown } | { readonly error: unknown }

/** An event that will be appended, with its data as the log gets it. */
export type Draft<Event> = {
  readonly event: Event
  readonly context: Context
  readonly at: number
  readonly data: string
  readonly schema: number
}

/** What a run of commands came to: their verdicts, in order, for as many as were decided. */
export type Decided<State, Event> = {
  readonly after: Loaded<State>
  readonly drafts: readonly Draft<Event>[]
  readonly verdicts: readonly Verdict[]
  /** The last command failed while it was changing the state, which is good for nothing now. The drafts are. */
  readonly isSpoilt: boolean
}

/** About how much data, in characters, one append takes before the commands that are left have to wait for the next. */
const APPEND_LENGTH = 4 * 1024 * 1024

const outcomeOf = <T>(work: () => T): { readonly value: T } | { readonly error: unknown } => {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}

const concluded = <Event>(decided: readonly Event[] | Concluded<Event, unknown>): Concluded<Event, unknown> =>
  'events' in decided ? decided : { events: decided, result: undefined }

/** What a command decides: its events, written down, and its result. `at` is when the events happen. */
type Drafted<Event> = { readonly drafts: readonly Draft<Event>[]; readonly result: unknown }

const draft = <State, Event extends DomainEvent, Need>(
  codec: Codec,
  { command, context }: Ask<State, Event, Need>,
  state: State,
  { now, at }: { readonly now: number; readonly at: number },
): Drafted<Event> => {
  const { events, result } = concluded(command.decide(state, now, at))
  return { drafts: events.map((event) => ({ event, context, at, ...codec.encode(event) })), result }
}

/** The state that a command's events lead to, and its answer. */
const carryOut = <State, Event extends DomainEvent, Need>(
  kind: StreamKind<State, Event>,
  { command, context: { actor } }: Ask<State, Event, Need>,
  state: State,
  { drafts, result }: Drafted<Event>,
) => {
  const after = drafts.reduce((before, { event, at }) => kind.evolve(before, event, { at, actor }), state)
  const events = drafts.map(({ event }) => event)
  return { after, answer: command.answer(after, events, result) }
}

/**
 * Decides commands one after the other on one evolving state, as many as belong into one append. Of a command either
 * every event is kept or none: when it fails while the state changes, nothing more is decided on that state.
 */
export const decideAll = <State, Event extends DomainEvent, Need>(
  kind: StreamKind<State, Event>,
  codec: Codec,
  loaded: Loaded<State>,
  asks: readonly Ask<State, Event, Need>[],
  now: () => number,
): Decided<State, Event> => {
  let { state, at } = loaded
  let length = 0
  let isSpoilt = false
  const drafts: Draft<Event>[] = []
  const verdicts: Verdict[] = []
  for (const ask of asks) {
    if (isSpoilt || length > APPEND_LENGTH) break
    const real = now()
    const drafted = outcomeOf(() => draft(codec, ask, state, { now: real, at: Math.max(real, at) }))
    const own = 'value' in drafted ? drafted.value.drafts : []
    const done = 'value' in drafted ? outcomeOf(() => carryOut(kind, ask, state, drafted.value)) : drafted
    if ('error' in done) {
      verdicts.push(done)
      isSpoilt = own.length > 0
    } else {
      verdicts.push({ answer: done.value.answer })
      state = done.value.after
      at = own.at(-1)?.at ?? at
      length += own.reduce((sum, { data }) => sum + data.length, 0)
      drafts.push(...own)
    }
  }
  return { after: { ...loaded, state, at }, drafts, verdicts, isSpoilt }
}

/** Gives drafts their ids and metadata, as the events of one append. */
export const stamp = <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  drafts: readonly Draft<Event>[],
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
