import * as assert from 'uvu/assert'
import { Rejected, type Rejection } from '../../src/engine/rejected.ts'
import type { Actor } from '../../src/log/metadata.ts'
import type { Decision, DecisionWithResult, DomainEvent, StreamKind } from '../../src/engine/stream.ts'

export const NOON = Date.UTC(2026, 0, 1, 12)
const LATER = NOON + 1_000_000

/** An event, and who has caused it, where that counts. */
export type Past<Event> = Event & { readonly actor?: Actor }

/** Adds up events as if each had happened a second after the one before, the first at noon or `from` seconds later. */
export const foldAll = <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  events: readonly Past<Event>[],
  state: State = kind.initial(),
  from = 0,
): State =>
  events.reduce(
    (before, event, i) => kind.evolve(before, event, { at: NOON + (from + i) * 1_000, actor: event.actor }),
    state,
  )

export type Expectation<Event> = {
  /** The decision gives these events, and none when it is taken again on what they led to. */
  emits(...events: Event[]): void
  /** The same, for the one decision whose retry is an event too: `again`. */
  emitsThen(again: Event, ...events: Event[]): void
  /** The same, for a decision whose retry is refused: what it asks for has happened. */
  emitsOnce(code: Rejection, ...events: Event[]): void
  rejects(code: Rejection): void
  /** It throws what is a fault of the caller's, not a refusal. */
  fails(message: RegExp): void
}

const assertRejects = (work: () => unknown, code: Rejection) =>
  assert.throws(work, (error: unknown) => error instanceof Rejected && error.code === code)

/** What does not decide, but asserts something of a state. */
type Assertion<State> = (state: State, now: number) => void

/**
 * Reads as: given these events, when this is decided, it emits or rejects; or: this is accepted, or refused. The clock runs as that of the log. `load` makes
 * of the folded state what the service would have in memory.
 */
export const specify =
  <State, Event extends DomainEvent>(
    kind: StreamKind<State, Event>,
    load: (state: State) => State = (state) => state,
  ) =>
  (...past: Past<Event>[]) => ({
    when: (
      decide: Decision<State, Event> | DecisionWithResult<State, Event, unknown>,
      now = LATER,
    ): Expectation<Event> => {
      const after = (...events: Event[]): readonly Event[] => {
        const decided = decide(foldAll(kind, events, load(foldAll(kind, past)), past.length), now, now)
        return 'events' in decided ? decided.events : decided
      }
      return {
        emits: (...expected) => {
          assert.equal(after(), expected)
          assert.equal(after(...expected), [], 'a retry must emit nothing')
        },
        emitsThen: (again, ...expected) => {
          assert.equal(after(), expected)
          assert.equal(after(...expected), [again])
        },
        emitsOnce: (code, ...expected) => {
          assert.equal(after(), expected)
          assertRejects(() => after(...expected), code)
        },
        rejects: (code) => assertRejects(() => after(), code),
        fails: (message) => assert.throws(() => after(), message),
      }
    },
    accepts: (assertion: Assertion<State>): void => assertion(load(foldAll(kind, past)), LATER),
    refuses: (assertion: Assertion<State>, code: Rejection, now = LATER): void =>
      assertRejects(() => assertion(load(foldAll(kind, past)), now), code),
  })
