import type { SessionShape } from '../../contract/trace.ts'
import { type CallPlace, type MessageFacts, type SavedShape, ShapeSoFar } from './shape.ts'

/**
 * A message with its place in the list: `sequence` and `timestamp` are Infinity if it has none. `tools` are those of its calls in their order, `slot`
 * is its quarter of an hour.
 */
export type ListedMessage = MessageFacts & {
  readonly sequence: number
  readonly timestamp: number
  readonly ordinal: number
  readonly tools: readonly string[]
  readonly slot: number
}

type SortKeys = Pick<ListedMessage, 'sequence' | 'timestamp' | 'ordinal'>

/**
 * The state of a shape after the first `upTo` messages of a trace, so that a batch need not read them again. They are the first ones both by
 * arrival and in the list. `state` is JSON text.
 */
export type KeptShape = { readonly upTo: number; readonly state: string }

/** A state as JSON, which has no Infinity: `last` are the sort keys of the last message, null for Infinity. */
type State = { readonly last: readonly (number | null)[]; readonly saved: SavedShape }

/**
 * The number of kept messages is a multiple of this. At least this many messages at the end are not kept: so a change of one of them does not need
 * all messages to be read.
 */
const STEP = 32

export const bySortKeys = (a: SortKeys, b: SortKeys): number => {
  // Not a subtraction: Infinity minus Infinity is NaN.
  if (a.sequence !== b.sequence) return a.sequence < b.sequence ? -1 : 1
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? -1 : 1
  return a.ordinal - b.ordinal
}

const sortKeysOf = ([sequence, timestamp, ordinal]: State['last']): SortKeys => ({
  sequence: sequence ?? Infinity,
  timestamp: timestamp ?? Infinity,
  ordinal: ordinal!,
})

const placesOf = ({ ordinal, tools, slot }: ListedMessage): CallPlace[] =>
  tools.map((tool, nth) => ({ ordinal, nth, slot, tool }))

/** How many messages may be kept of a trace that has `count`. */
const limitOf = (count: number) => Math.floor(count / STEP) * STEP - STEP

/**
 * Builds the shape of a trace from what is kept and all later messages. What is to be kept next depends on the messages alone, not on how they
 * were batched.
 */
export class ShapeBuilder {
  readonly #shape: ShapeSoFar
  #last: SortKeys | undefined
  #seen: number
  #highest: number
  /** States that can be kept: first the last one that may be kept now, then those that may be once there are more messages. */
  #kept: KeptShape[]

  constructor(kept?: KeptShape) {
    const state = kept && (JSON.parse(kept.state) as State)
    this.#shape = new ShapeSoFar(state?.saved)
    this.#last = state && sortKeysOf(state.last)
    this.#seen = kept?.upTo ?? 0
    this.#highest = this.#seen - 1
    this.#kept = kept ? [kept] : []
  }

  /** How many messages the shape has. */
  get count(): number {
    return this.#seen
  }

  /** The calls that have failed since this was last asked, and of what was kept none. */
  takeFailed(): CallPlace[] {
    return this.#shape.takeFailed()
  }

  /** The calls without a result so far. */
  openPlaces(): CallPlace[] {
    return this.#shape.openPlaces()
  }

  /** Whether it is small enough to be remembered. */
  get isSmall(): boolean {
    return this.#shape.isSmall
  }

  /** Whether a message comes after all messages of the shape. */
  comesAfter(message: SortKeys): boolean {
    return !this.#last || bySortKeys(this.#last, message) < 0
  }

  /** Adds messages that come next in the list. */
  add(messages: readonly ListedMessage[]): void {
    const ends = this.#ends(messages)
    for (const [i, message] of messages.entries()) {
      this.#shape.add(message, placesOf(message))
      if (ends.includes(i)) this.#keep(this.#seen + i + 1, message)
    }
    this.#seen += messages.length
    this.#highest = messages.reduce((highest, { ordinal }) => Math.max(highest, ordinal), this.#highest)
    this.#last = messages.at(-1) ?? this.#last
    const limit = limitOf(this.#seen)
    this.#kept.splice(
      0,
      this.#kept.findLastIndex(({ upTo }) => upTo <= limit),
    )
  }

  /** The indexes of the messages after which a state can be kept: of such a message, all messages before it in the list have arrived before it. */
  #ends(messages: readonly ListedMessage[]): number[] {
    const limit = limitOf(this.#seen + messages.length)
    let ends: number[] = []
    let seen = this.#seen
    let highest = this.#highest
    for (const [i, { ordinal }] of messages.entries()) {
      highest = Math.max(highest, ordinal)
      seen += 1
      if (seen % STEP > 0 || highest !== seen - 1) continue
      if (seen <= limit) ends = [i]
      else ends.push(i)
    }
    return ends
  }

  #keep(upTo: number, { sequence, timestamp, ordinal }: ListedMessage): void {
    const state: State = { last: [sequence, timestamp, ordinal], saved: this.#shape.saved() }
    this.#kept.push({ upTo, state: JSON.stringify(state) })
  }

  /** The shape, and what is to be kept; `kept` is undefined while there are too few messages. */
  end(): { readonly shape: SessionShape; readonly kept: KeptShape | undefined } {
    const [first] = this.#kept
    return { shape: this.#shape.shape(), kept: first && first.upTo <= limitOf(this.#seen) ? first : undefined }
  }
}
