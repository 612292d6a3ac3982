import * as assert from 'uvu/assert'
import { Rejected, type Rejection } from '../../src/engine/rejected.ts'
import type { Decision, DomainEvent, StreamKind } from '../../src/engine/stream.ts'

const NOON = Date.UTC(2026, 0, 1, 12)

/** Adds up events as if each had happened a second after the one before. */
export const foldAll = <State, Event extends DomainEvent>(
  kind: StreamKind<State, Event>,
  events: readonly Event[],
): State => events.reduce((state, event, i) => kind.evolve(state, event, { at: NOON + i * 1_000 }), kind.initial())

type Expectation<Event> = {
  /** The decision gives these events, and none when it is taken again on what they led to. */
  emits(...events: Event[]): void
  /** The same, for the one decision whose retry is an event again. */
  emitsEachTime(...events: Event[]): void
  /** The same, for a decision whose retry is refused: what it asks for has happened. */
  emitsOnce(code: Rejection, ...events: Event[]): void
  rejects(code: Rejection): void
}

const assertRejects = (work: () => unknown, code: Rejection) =>
  assert.throws(work, (error: unknown) => error instanceof Rejected && error.code === code)

/** Reads as: given these events, when this is decided, it emits or rejects. The clock runs as that of the log. */
export const specify =
  <State, Event extends DomainEvent>(kind: StreamKind<State, Event>) =>
  (...past: Event[]) => ({
    when: (decide: Decision<State, Event>, now = NOON + 1_000_000): Expectation<Event> => {
      const after = (...events: Event[]) => decide(foldAll(kind, events), now, now)
      return {
        emits: (...expected) => {
          assert.equal(after(...past), expected)
          assert.equal(after(...past, ...expected), [], 'a retry must emit nothing')
        },
        emitsEachTime: (...expected) => {
          assert.equal(after(...past), expected)
        },
        emitsOnce: (code, ...expected) => {
          assert.equal(after(...past), expected)
          assertRejects(() => after(...past, ...expected), code)
        },
        rejects: (code) => assertRejects(() => after(...past), code),
      }
    },
  })
