import { randomUUIDv7 } from 'node:crypto'
import { textOf } from '../json/exact.ts'
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

export type Draft<Event> = { readonly event: Event; readonly context: Context; readonly at: number }

/** What a run of commands came to: their verdicts, in order, for as many as were decided. */
export type Decided<State, Event> = {
  readonly after: Loaded<State>
  readonly drafts: readonly Draft<Event>[]
  readonly verdicts: readonly Verdict[]
}

const APPEND_BYTES = 4 * 1024 * 1024

/** About how long the JSON text of a value is. That of objects in lists is kept: it will be written, or has been. */
const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + lengthOfItem(item), 0)
  return 100
}

const lengthOfItem = (item: unknown): number => {
  if (typeof item !== 'object' || item === null) return lengthOf(item)
  const { value } = item as { readonly value?: unknown } // an operation of a patch
  return value === undefined ? textOf(item).length : lengthOf([value])
}

/** A rough size of an event, enough to keep one append within bounds. */
const weightOf = ({ data }: DomainEvent) =>
  Object.values(data).reduce<number>((sum, value) => sum + lengthOf(value), 200)

/** Decides commands one after the other on one evolving state, as many as belong into one append. */
export const decideAll = <State, Event extends DomainEvent, Need>(
  kind: StreamKind<State, Event>,
  loaded: Loaded<State>,
  asks: readonly Ask<State, Event, Need>[],
  now: () => number,
): Decided<State, Event> => {
  let { state, at } = loaded
  let weight = 0
  const drafts: Draft<Event>[] = []
  const verdicts: Verdict[] = []
  for (const { command, context } of asks) {
    if (weight > APPEND_BYTES) break
    const time = Math.max(now(), at)
    try {
      const events = command.decide(state, time)
      for (const event of events) {
        state = kind.evolve(state, event, { at: time, actor: context.actor })
        drafts.push({ event, context, at: time })
        weight += weightOf(event)
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
  codec: Codec,
  drafts: readonly Draft<Event>[],
): NewEvent[] => {
  const kept = kind.condense ? new Set(kind.condense(drafts.map(({ event }) => event))) : undefined
  const written = kept ? drafts.filter(({ event }) => kept.has(event)) : drafts
  const id = randomUUIDv7()
  return written.map(({ event, context, at }, index) => {
    const { data, schema } = codec.encode(event)
    const metadata = { at, ...context, schema, append: { id, index, size: written.length } } as Metadata
    const decoded = { data: event.data, metadata }
    return { id: randomUUIDv7(), type: event.type, data, metadata: JSON.stringify(metadata), decoded }
  })
}
