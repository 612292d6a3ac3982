import { hash } from 'node:crypto'
import type { Answer, CurrentAnswer, SeenState } from './answer.ts'
import { REST_MS } from './pace.ts'
import type { Permits } from '../../base/permits.ts'
import { newSharedBytes } from './shared-bytes.ts'

/** An answer, and the number of the attempt that has read it. */
type Last = CurrentAnswer & { readonly attempt: number }

/** The newest answer of a query while it may be sent, and the topics whose events change the query. */
type KeptAnswer = {
  /** Undefined if no answer is kept. */
  last(): Last | undefined
  topics(): ReadonlySet<string>
  /** Sets the topics whose events change the query. */
  follow(topics: ReadonlySet<string>): void
  /** Keeps an answer. `position` is the position of the snapshot that it was read from, or an earlier one. */
  keep(answer: Answer, position: bigint, attempt: number): void
  /** Calls `onExpired` when the right to see an answer ends by the clock. */
  watchExpiry(answer: Pick<SeenState, 'expiresAt'>): void
  /** Drops the answer. */
  withdraw(): void
  /** Drops the answer and its topics. */
  end(): void
}

export type KeptAnswerOptions = {
  /** Replaces the topics by which events find the query. */
  readonly index: (before: ReadonlySet<string>, after: ReadonlySet<string>) => void
  /** Called with the length of each answer that is kept, and when it is dropped. */
  readonly onKept: (length: number) => void
  readonly onDropped: () => void
  /** Bounds the bytes of large values that are being sent. */
  readonly frames: Permits
}

/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Whether the right to see an answer has ended by the clock. */
export const isExpired = ({ expiresAt }: Pick<SeenState, 'expiresAt'>) =>
  expiresAt !== undefined && expiresAt <= Date.now()

export const newKeptAnswer = (options: KeptAnswerOptions, onExpired: () => void): KeptAnswer => {
  const { index, onKept, onDropped, frames } = options
  let topics: ReadonlySet<string> = new Set()
  let last: Last | undefined
  let expiry: NodeJS.Timeout | undefined

  const follow: KeptAnswer['follow'] = (after) => {
    index(topics, after)
    topics = after
  }

  const keep: KeptAnswer['keep'] = (answer, position, attempt) => {
    const { value, topics, expiresAt } = answer
    const seen = { position, topics, expiresAt, notBefore: performance.now() + REST_MS }
    last = {
      answer,
      digest: hash('sha1', value),
      bytes: newSharedBytes(value, frames),
      seen,
      attempt,
    }
    onKept(value.length)
  }

  const watchExpiry: KeptAnswer['watchExpiry'] = ({ expiresAt }) => {
    clearTimeout(expiry)
    if (expiresAt === undefined) return
    const left = Math.max(0, expiresAt - Date.now()) + 1
    expiry = setTimeout(onExpired, Math.min(left, MAX_TIMER_MS)).unref()
  }

  const withdraw = () => {
    last = undefined
    onDropped()
  }

  const end = () => {
    clearTimeout(expiry)
    follow(new Set())
    withdraw()
  }

  return { last: () => last, topics: () => topics, follow, keep, watchExpiry, withdraw, end }
}
