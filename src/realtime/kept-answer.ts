import { hash } from 'node:crypto'
import type { Answer, Current, Seen } from './answer.ts'
import { REST_MS } from './pace.ts'
import type { Permits } from '../base/permits.ts'
import { newSharedBytes } from './shared-bytes.ts'

/** An answer, and the number of the attempt that has got it. */
export type Last = Current & { readonly attempt: number }

/** The newest answer of a query while it may be sent, and the topics by which events find the query. */
export type KeptAnswer = {
  /** Undefined while no answer is kept. */
  last(): Last | undefined
  topics(): ReadonlySet<string>
  /** Has the query touched by these topics, and no longer by others. */
  follow(topics: ReadonlySet<string>): void
  /** Keeps an answer, with a position of the snapshot that it was read from. */
  keep(answer: Answer, position: bigint, attempt: number): void
  /** Has `expired` called when the right to see an answer ends by the clock. */
  watchExpiry(answer: Pick<Seen, 'expiresAt'>): void
  /** Gives up the answer that is kept. */
  withdraw(): void
  /** Gives up the answer and its topics. */
  end(): void
}

export type KeptAnswerOptions = {
  /** Counts the epochs of the log that this node has met. */
  readonly epoch: () => number
  /** Has the query touched by the topics of its newest answer, and no longer by others. */
  readonly index: (before: ReadonlySet<string>, after: ReadonlySet<string>) => void
  /** Told of each answer that is kept, by its length, and when it is dropped. */
  readonly kept: (length: number) => void
  readonly dropped: () => void
  /** Bounds the bytes of large values that are being sent. */
  readonly frames: Permits
}

/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Whether the right to see an answer has ended by the clock. */
export const isExpired = ({ expiresAt }: Pick<Seen, 'expiresAt'>) => expiresAt !== undefined && expiresAt <= Date.now()

export const newKeptAnswer = (options: KeptAnswerOptions, expired: () => void): KeptAnswer => {
  const { epoch, index, kept, dropped, frames } = options
  let topics: ReadonlySet<string> = new Set()
  let last: Last | undefined
  let expiry: NodeJS.Timeout | undefined

  const follow: KeptAnswer['follow'] = (after) => {
    index(topics, after)
    topics = after
  }

  const keep: KeptAnswer['keep'] = (answer, position, attempt) => {
    const { value, topics, expiresAt } = answer
    const seen = { position, topics, expiresAt, epoch: epoch(), notBefore: performance.now() + REST_MS }
    last = {
      answer,
      digest: hash('sha1', value),
      bytes: newSharedBytes(value, frames),
      seen,
      attempt,
    }
    kept(value.length)
  }

  const watchExpiry: KeptAnswer['watchExpiry'] = ({ expiresAt }) => {
    clearTimeout(expiry)
    if (expiresAt === undefined) return
    const left = Math.max(0, expiresAt - Date.now()) + 1
    expiry = setTimeout(expired, Math.min(left, MAX_TIMER_MS)).unref()
  }

  const withdraw = () => {
    last = undefined
    dropped()
  }

  const end = () => {
    clearTimeout(expiry)
    follow(new Set())
    withdraw()
  }

  return { last: () => last, topics: () => topics, follow, keep, watchExpiry, withdraw, end }
}
