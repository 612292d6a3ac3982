import { HttpError } from '../http/http-error.ts'
import type { Current, Query, Seen, Subscription } from './answer.ts'
import type { Client } from '../base/permits.ts'
import type { LiveQueries } from './live-queries.ts'
import type { SharedBytes } from './shared-bytes.ts'

/** A value that a client does not have yet, and the subscription that it is for. */
export type NextValue = {
  readonly id: string
  readonly bytes: SharedBytes
  /** Called when the frame is on its way. */
  readonly onSending: () => void
  /** Whether the client may still read it. */
  readonly mayGoOn: () => boolean
  /** Called when the client has it. */
  readonly onSent: () => void
}

/** The subscriptions of one client, by the ids that the client has given them. */
export type ClientSubscriptions = {
  /**
   * Makes a subscription, in the place of one with the same id; it begins when it is given what to follow.
   * @throws HttpError rate_limited when there are too many
   */
  add(id: string): { readonly follow: (query: Query) => void; readonly isPresent: () => boolean }
  remove(id: string): void
  removeAll(): void
  /** The newest value that is due longest; undefined where the client has all there is, or nothing may be sent now. */
  next(): NextValue | undefined
  size(): number
}

export type ClientSubscriptionsOptions = {
  readonly live: LiveQueries
  readonly client: () => Client
  readonly max: number
  /** There may be a value to send. */
  readonly onDue: () => void
  /** A subscription has failed, and has ended. */
  readonly onFailure: (error: unknown, id: string) => void
}

type Followed = {
  readonly id: string
  subscription: Subscription | undefined
  /** The digest of the value that the client was sent last. */
  sent: string | undefined
  /** Nothing was told to it yet. */
  isFirst: boolean
  /** A value is on its way after which the question is another one. */
  goesOn: boolean
}

const hasNews = ({ sent, isFirst }: Followed, { answer, digest }: Current) =>
  digest !== sent && (isFirst || !answer.hasNoNews)

/** What waits to be sent is no value, but that there is one: so a client that reads slowly gets what is newest. */
export const newClientSubscriptions = (options: ClientSubscriptionsOptions): ClientSubscriptions => {
  const { live, client, max, onDue, onFailure } = options
  const followed = new Map<string, Followed>()
  /** Subscriptions with a value that the client does not have, in the order in which they are due. */
  const due = new Set<string>()

  const remove = (id: string) => {
    followed.get(id)?.subscription?.stop()
    followed.delete(id)
    due.delete(id)
  }

  const isPresent = (one: Followed) => followed.get(one.id) === one

  /** Follows a query from here on, with `seen` from behind that. */
  const follow = (one: Followed, query: Query, seen?: Seen) => {
    const { id } = one
    one.subscription?.stop()
    one.sent = undefined
    one.goesOn = false
    const changed = () => {
      // Until the client has what is on its way, nothing else is told: what happens meanwhile comes with the next value.
      if (one.goesOn) return
      due.add(id)
      onDue()
    }
    const failed = (error: unknown) => {
      remove(id)
      onFailure(error, id)
    }
    one.subscription = live.watch(query, { client, changed, failed }, seen)
  }

  const toNextValue = (one: Followed, { answer, digest, bytes, seen }: Current): NextValue => ({
    id: one.id,
    bytes,
    onSending: () => {
      due.delete(one.id)
      one.isFirst = false
      one.sent = digest
      one.goesOn = answer.next !== undefined
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
    if (followed.size >= max) throw new HttpError('rate_limited', `A connection may hold ${max} subscriptions`)
    const one: Followed = { id, subscription: undefined, sent: undefined, isFirst: true, goesOn: false }
    followed.set(id, one)
    return { follow: (query) => follow(one, query), isPresent: () => isPresent(one) }
  }

  const removeAll = () => {
    for (const id of [...followed.keys()]) remove(id)
  }

  return { add, remove, removeAll, next, size: () => followed.size }
}
