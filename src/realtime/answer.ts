import type { Client } from '../base/permits.ts'
import type { SharedBytes } from './shared-bytes.ts'

/** What a query gives: its value as JSON text, and what it was made of. */
export type Answer<Text extends string = string> = {
  readonly value: Text
  /** An event about one of these changes the value. */
  readonly topics: readonly string[]
  /** When the right to see it ends without an event, in milliseconds since the epoch. */
  readonly expiresAt?: number | undefined
  /** Holds nothing that a client with an answer from before does not have. */
  readonly hasNoNews?: boolean | undefined
  /** What is asked once the client has this answer, for a query that only tells what is new. */
  readonly next?: Query<Text> | undefined
  /** There is more already: `next` is to be asked at once. */
  readonly hasMore?: boolean | undefined
}

/** Something that can be asked again and again; those with the same key are one. */
export type Query<Text extends string = string> = {
  readonly key: string
  readonly ask: () => Promise<Answer<Text>>
}

/** A query with its arguments, as one caller asks it. */
export type Question = Query & {
  /** The token that came with the arguments. */
  readonly token?: string | undefined
  /** About how many bytes its value has at most. */
  readonly maxBytes: () => Promise<number>
}

/** From where on a subscriber knows everything that it has been told. */
export type Seen = Pick<Answer, 'topics' | 'expiresAt'> & {
  /** The position of the snapshot that the answer was read from, and the epoch of the log that it counts in. */
  readonly position: bigint
  readonly epoch: number
  /** The next answer is due no sooner, in milliseconds that only move forward: a burst of changes gives one. */
  readonly notBefore: number
}

/** The newest answer, as it may be handed out right now. */
export type Current = {
  readonly answer: Answer
  /** Equal for equal values. */
  readonly digest: string
  /** The value as bytes, for all who are sent it. */
  readonly bytes: SharedBytes
  readonly seen: Seen
}

/** Who wants to know. `failed` is called at most once, and ends the subscription. */
export type Subscriber = {
  readonly client: () => Client
  /** There is a newer answer, to be taken with `current`. */
  readonly changed: () => void
  readonly failed: (error: unknown) => void
}

export type Subscription = {
  /** The newest answer; undefined while none may be sent: then `changed` is called once there is one. */
  current(): Current | undefined
  stop(): void
}
