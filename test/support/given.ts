import * as assert from 'uvu/assert'
import { Rejected, type Rejection } from '../../src/eventstore/engine/rejected.ts'
import type { Actor } from '../../src/eventstore/log/metadata.ts'
import type {
  CheckRevision,
  Decision,
  DecisionWithResult,
  DomainEvent,
  StreamKind,
} from '../../src/eventstore/engine/stream.ts'
import { expectedOf } from '../../src/eventstore/log/log.ts'

export const NOON = Date.UTC(2026, 0, 1, 12)
/** When decisions are made, unless a test says it. */
export const LATER = NOON + 1_000_000

/** An event, and the user who has caused it, if that matters. */
export type Past<Event> = Event & { readonly actor?: Actor }

/** The state after events, each a second after the one before; the first is at noon, or `from` seconds later. */
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
  /**
   * Asserts that the decision gives these events, and no events when it is repeated on the resulting state; and that the state before, of which
   * that is a draft, is still the same.
   */
  emits(...events: Event[]): void
  /** The same for a decision whose repetition gives the event `again`. */
  emitsThen(again: Event, ...events: Event[]): void
  /** The same for a decision whose repetition is refused with `code`, because it has happened already. */
  emitsOnce(code: Rejection, ...events: Event[]): void
  rejects(code: Rejection): void
  /** Asserts that the decision throws an error that is not a refusal: a mistake of the calling code. */
  fails(message: RegExp): void
}

const assertRejects = (work: () => unknown, code: Rejection) =>
  assert.throws(work, (error: unknown) => error instanceof Rejected && error.code === code)

/** A check of a state that decides nothing. */
type Assertion<State> = (state: State, now: number) => void

/**
 * Tests of a decision: `given(events).when(decision)` and then `emits` or `rejects`, or for a check `accepts` or `refuses`. `load` turns
 * the folded state into the state that the service has in memory.
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
      checkRevision?: CheckRevision<State, Event>,
    ): Expectation<Event> => {
      const on = (state: State, count: number): readonly Event[] => {
        const decided = decide(state, now, now)
        const emitted = 'events' in decided ? decided.events : decided
        checkRevision?.(state, expectedOf(BigInt(count - 1)), emitted)
        return emitted
      }
      const before = () => load(foldAll(kind, past))
      const later = (state: State, events: readonly Event[]) =>
        on(foldAll(kind, events, kind.draft?.(state) ?? state, past.length), past.length + events.length)
      const after = (...events: Event[]) => later(before(), events)
      return {
        emits: (...expected) => {
          const state = before()
          assert.equal(on(state, past.length), expected)
          assert.equal(later(state, expected), [], 'a retry must emit nothing')
          assert.equal(on(state, past.length), expected, 'a draft must not change the state that it was made of')
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
