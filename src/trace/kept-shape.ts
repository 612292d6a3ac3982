import type { SessionShape } from '../contract/trace.ts'
import { type MessageFacts, type SavedShape, ShapeSoFar } from './shape.ts'

/** A message with its place in the list: `sequence` and `timestamp` are Infinity where it has none. */
export type ListedMessage = MessageFacts & {
  readonly sequence: number
  readonly timestamp: number
  readonly ordinal: number
}

type Place = Pick<ListedMessage, 'sequence' | 'timestamp' | 'ordinal'>

/**
 * What is kept of the first messages of a trace, so that a batch need not read all of them again. `upTo` is how many they are: they are
 * the first ones both by arrival and in the list. `state` is JSON text.
 */
export type KeptShape = { readonly upTo: number; readonly state: string }

/** JSON has no Infinity. */
type State = { readonly last: readonly (number | null)[]; readonly saved: SavedShape }

/** The first messages are kept in steps of so many. At least as many of the last ones can change without a look at all others. */
const STEP = 32

export const byPlace = (a: Place, b: Place): number => {
  // A difference would be NaN for two without a value.
  if (a.sequence !== b.sequence) return a.sequence < b.sequence ? -1 : 1
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? -1 : 1
  return a.ordinal - b.ordinal
}

const placeOf = ([sequence, timestamp, ordinal]: State['last']): Place => ({
  sequence: sequence ?? Infinity,
  timestamp: timestamp ?? Infinity,
  ordinal: ordinal!,
})

/** Makes the shape of a trace from what is kept and all further messages. What is kept then depends on the messages alone. */
export class ShapeWalk {
  readonly #limit: number
  readonly #last: Place | undefined
  readonly #shape: ShapeSoFar
  #seen: number
  #highest: number
  #kept: KeptShape | undefined

  /** @param count how many messages the trace has */
  constructor(kept: KeptShape | undefined, count: number) {
    const state = kept && (JSON.parse(kept.state) as State)
    this.#limit = Math.floor(count / STEP) * STEP - STEP
    this.#last = state && placeOf(state.last)
    this.#shape = new ShapeSoFar(state?.saved)
    this.#seen = kept?.upTo ?? 0
    this.#highest = this.#seen - 1
    this.#kept = kept
  }

  /** Whether a message is behind those that are kept. */
  isBehind(message: Place): boolean {
    return !this.#last || byPlace(this.#last, message) < 0
  }

  /** Adds messages that come next in the list. */
  add(messages: readonly ListedMessage[]): void {
    const end = this.#lastEnd(messages)
    for (const [i, message] of messages.entries()) {
      this.#shape.add(message)
      if (i === end) this.#keep(this.#seen + i + 1, message)
    }
    this.#seen += messages.length
    this.#highest = messages.reduce((highest, { ordinal }) => Math.max(highest, ordinal), this.#highest)
  }

  /** The last of these messages up to which all can be kept: no later one has come before them. */
  #lastEnd(messages: readonly ListedMessage[]): number | undefined {
    let [found, seen, highest]: [number | undefined, number, number] = [undefined, this.#seen, this.#highest]
    for (const [i, { ordinal }] of messages.entries()) {
      highest = Math.max(highest, ordinal)
      seen += 1
      if (seen % STEP === 0 && seen <= this.#limit && highest === seen - 1) found = i
    }
    return found
  }

  #keep(upTo: number, { sequence, timestamp, ordinal }: ListedMessage): void {
    const state: State = { last: [sequence, timestamp, ordinal], saved: this.#shape.saved() }
    this.#kept = { upTo, state: JSON.stringify(state) }
  }

  end(): { readonly shape: SessionShape; readonly kept: KeptShape | undefined } {
    return { shape: this.#shape.shape(), kept: this.#kept }
  }
}
