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

export type Ask<State, Event, Need> = {
  readonly command: Command<State, Event, Need, unknown>
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
}

/** About how much data, in characters, one append takes before the commands that are left have to wait for the next. */
const APPEND_LENGTH = 4 * 1024 * 1024

/** Decides commands one after the other on one evolving state, as many as belong into one append. */
export const decideAll = <State, Event extends DomainEvent, Need>(
  kind: StreamKind<State, Event>,
  codec: Codec,
  loaded: Loaded<State>,
  asks: readonly Ask<State, Event, Need>[],
  now: () => number,
): Decided<State, Event> => {
  let { state, at } = loaded
  let length = 0
  const drafts: Draft<Event>[] = []
  const verdicts: Verdict[] = []
  for (const { command, context } of asks) {
    if (length > APPEND_LENGTH) break
    const real = now()
    const time = Math.max(real, at)
    try {
      const events = command.decide(state, real, time)
      // All are written before the first counts: of a command either every event is stored or none.
      const decided = events.map((event) => ({ event, context, at: time, ...codec.encode(event) }))
      for (const draft of decided) {
        state = kind.evolve(state, draft.event, { at: time, actor: context.actor })
        drafts.push(draft)
        length += draft.data.length
        at = time
      }
      verdicts.push({ answer: command.answer(state, events) })
    } catch (error) {
      verdicts.push({ error })
    }
  }
  return { after: { ...loaded, state, at }, drafts, verdicts }
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
