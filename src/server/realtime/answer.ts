import type { Client } from '../../base/permits.ts'
import type { SharedBytes } from './shared-bytes.ts'

/** The answer of a query: its value as JSON text, and the topics that it depends on. */
export type Answer<Text extends string = string> = {
  readonly value: Text
  /** An event about one of these may change the value. */
  readonly topics: readonly string[]
  /** When the right to see it ends by the clock, in milliseconds since the epoch. */
  readonly expiresAt?: number | undefined
  /** Whether the answer has nothing new for a client with an earlier answer. */
  readonly hasNoNews?: boolean | undefined
  /** The query to continue with once the client has this answer, for queries whose answers are only changes. */
  readonly next?: Query<Text> | undefined
  /** Whether more changes exist already, so that `next` is to be executed at once. */
  readonly hasMore?: boolean | undefined
}

/** A query that can be executed repeatedly. Queries with the same key are shared. */
export type Query<Text extends string = string> = {
  readonly key: string
  readonly ask: () => Promise<Answer<Text>>
}

/** A query with its arguments, for one caller. */
export type Question = Query & {
  /** The token among the arguments. */
  readonly token?: string | undefined
  /** An estimate of the maximum size of its value, in bytes. */
  readonly maxBytes: () => Promise<number>
}

/** The state that a subscriber has seen with an answer. */
export type SeenState = Pick<Answer, 'topics' | 'expiresAt'> & {
  /** The position of the snapshot that the answer was read from. */
  readonly position: bigint
  /** The earliest time of the next answer, by `performance.now()`, so that a burst of changes gives one answer. */
  readonly notBefore: number
}

/** The newest answer, which may be sent now. */
export type CurrentAnswer = {
  readonly answer: Answer
  /** A digest of the value. */
  readonly digest: string
  /** The value as bytes, shared by all subscribers. */
  readonly bytes: SharedBytes
  readonly seen: SeenState
}

/** A subscriber of a query. `failed` is called at most once, and ends the subscription. */
export type Subscriber = {
  readonly client: () => Client
  /** There is a newer answer, to be read by `current`. */
  readonly changed: () => void
  readonly failed: (error: unknown) => void
}

export type Subscription = {
  /** The newest answer; undefined while none may be sent. Then `changed` is called once there is one. */
  current(): CurrentAnswer | undefined
  stop(): void
}
