import { HttpError } from '../http/http-error.ts'
import type { CurrentAnswer, Query, SeenState, Subscription } from './answer.ts'
import type { Client } from '../../base/permits.ts'
import type { LiveQueries } from './live-queries.ts'
import type { SharedBytes } from './shared-bytes.ts'

/** A value that the client does not have yet, and its subscription. */
export type NextValue = {
  readonly id: string
  readonly bytes: SharedBytes
  /** Called when the frame is being sent. */
  readonly onSending: () => void
  /** Whether the client may still read it. */
  readonly mayGoOn: () => boolean
  /** Called when the client has it. */
  readonly onSent: () => void
}

/** The subscriptions of one client, by the ids that the client has given them. */
type ClientSubscriptions = {
  /**
   * Adds a subscription, which replaces one with the same id. It begins with a call of `follow`.
   * @throws HttpError rate_limited if there are too many
   */
  add(id: string): { readonly follow: (query: Query) => void; readonly isPresent: () => boolean }
  remove(id: string): void
  removeAll(): void
  /** The newest value of the subscription that has waited longest; undefined if the client has all values, or none may be sent now. */
  next(): NextValue | undefined
  size(): number
}

type ClientSubscriptionsOptions = {
  readonly live: LiveQueries
  readonly client: () => Client
  readonly max: number
  /** Called when there may be a value to send. */
  readonly onDue: () => void
  /** Called when a subscription has failed, and so has ended. */
  readonly onFailure: (error: unknown, id: string) => void
}

type FollowedQuery = {
  readonly id: string
  subscription: Subscription | undefined
  /** The digest of the last value that was sent to the client. */
  sent: string | undefined
  /** Whether no value was sent yet. */
  isFirst: boolean
  /** Whether a value is being sent after which the subscription continues with another query. */
  hasNextQuery: boolean
}

const hasNews = ({ sent, isFirst }: FollowedQuery, { answer, digest }: CurrentAnswer) =>
  digest !== sent && (isFirst || !answer.hasNoNews)

/** The queue holds no values, but notes that there are newer ones, so that a client that reads slowly gets the newest. */
export const newClientSubscriptions = (options: ClientSubscriptionsOptions): ClientSubscriptions => {
  const { live, client, max, onDue, onFailure } = options
  const followed = new Map<string, FollowedQuery>()
  /** Subscriptions with a newer value, in the order in which they became due. */
  const due = new Set<string>()

  const remove = (id: string) => {
    followed.get(id)?.subscription?.stop()
    followed.delete(id)
    due.delete(id)
  }

  const isPresent = (one: FollowedQuery) => followed.get(one.id) === one

  /** Follows a query, from the state `seen` on if it is given. */
  const follow = (one: FollowedQuery, query: Query, seen?: SeenState) => {
    const { id } = one
    one.subscription?.stop()
    one.sent = undefined
    one.hasNextQuery = false
    const changed = () => {
      // Until the client has the value that is being sent, changes wait for the next query.
      if (one.hasNextQuery) return
      due.add(id)
      onDue()
    }
    const failed = (error: unknown) => {
      remove(id)
      onFailure(error, id)
    }
    one.subscription = live.watch(query, { client, changed, failed }, seen)
  }

  const toNextValue = (one: FollowedQuery, { answer, digest, bytes, seen }: CurrentAnswer): NextValue => ({
    id: one.id,
    bytes,
    onSending: () => {
      due.delete(one.id)
      one.isFirst = false
      one.sent = digest
      one.hasNextQuery = answer.next !== undefined
    },
    mayGoOn: () => live.mayStillBeRead(seen),
    onSent: () => {
      if (answer.next && isPresent(one)) follow(one, answer.next, answer.hasMore ? undefined : seen)
    },
  })

  const next = () => {
    for (const id of due) {
      const one = followed.get(id)!
      const current = one.subscription?.current()
      if (current && hasNews(one, current)) return toNextValue(one, current)
      due.delete(id)
    }
    return undefined
  }

  const add: ClientSubscriptions['add'] = (id) => {
    remove(id)
    if (followed.size >= max)
      throw new HttpError(
        'rate_limited',
        `This connection has ${max} subscriptions, which is the maximum: end one of them, or open another connection`,
      )
    const one: FollowedQuery = { id, subscription: undefined, sent: undefined, isFirst: true, hasNextQuery: false }
    followed.set(id, one)
    return { follow: (query) => follow(one, query), isPresent: () => isPresent(one) }
  }

  const removeAll = () => {
    for (const id of [...followed.keys()]) remove(id)
  }

  return { add, remove, removeAll, next, size: () => followed.size }
}
