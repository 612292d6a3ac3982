import { newRecentChanges } from '../engine/recent-changes.ts'
import { isId } from '../base/ids.ts'
import type { NodePermits } from '../http/node-permits.ts'
import { withPermit } from '../base/permits.ts'
import type { Query, Seen, Subscriber, Subscription } from './answer.ts'
import { isExpired } from './kept-answer.ts'
import { type LiveQuery, type LiveQueryOptions, newLiveQuery } from './live-query.ts'

/** Queries whose subscribers are told of each change. Equal ones are asked once. */
export type LiveQueries = {
  /** With `seen` the first answer comes with the first change after it. */
  watch(query: Query, subscriber: Subscriber, seen?: Seen): Subscription
  /** False once a right to read an answer has been lost, or that is not known: what is on its way of it has to stop. */
  mayStillBeRead(seen: Seen): boolean
  /** Takes note of an event. Called for every event before its write is answered. */
  observe(event: Change): void
  /** Asks everything again: at a position something has happened that this node does not understand. */
  clear(position: bigint): void
  /** The same for a log in another epoch, where positions begin anew. */
  restart(): void
  counts(): LiveCounts
}

/** `ends` is stated when an event takes a right to read. */
export type Change = { readonly position: bigint; readonly topics: readonly string[]; readonly ends: unknown }

export type LiveCounts = {
  readonly queries: number
  readonly subscriptions: number
  /** Characters of all answers that are kept. */
  readonly kept: number
}

/** What all queries share. */
type Shared = 'readModelsPosition' | 'caughtUp' | 'lastSeen' | 'isCurrent' | 'observe'

export type LiveQueriesOptions = Pick<LiveQueryOptions, Shared> & {
  /** How many characters of answers are kept in all: those that are left out are asked for again. */
  readonly keep?: number
  /** Bound how many queries are asked at once, and the values that are being sent. */
  readonly permits: Pick<NodePermits, 'reads' | 'frames'>
}

/** Whether a topic is one thing, and no list: a list that shows something has that among its topics as well. */
const isOfOne = (topic: string) => isId(topic)

/** Something has happened that may concern everything. */
const EVERYTHING = '*'

/** More than happen while a query is asked; an answer that is behind even that is dropped, and asked for again. */
const REMEMBERED_LOSSES = 5_000
const REMEMBERED_CHANGES = 5_000
/** Characters of answers that are kept for who asks the same: four of the largest. */
const KEPT = 32 * 1024 * 1024

export const newLiveQueries = (options: LiveQueriesOptions): LiveQueries => {
  const {
    keep = KEPT,
    permits: { reads, frames },
  } = options
  const queries = new Map<string, LiveQuery>()
  const byTopic = new Map<string, Set<LiveQuery>>()
  const losses = newRecentChanges<readonly string[]>(REMEMBERED_LOSSES)
  const changes = newRecentChanges<readonly string[]>(REMEMBERED_CHANGES)
  /** The characters of the answers that are kept, and the net that each was asked for; the oldest first. */
  const kept = new Map<LiveQuery, { readonly length: number; readonly net: string }>()
  let keptInAll = 0
  let epoch = 0

  const about = (topics: ReadonlySet<string>) => (changed: readonly string[]) =>
    changed.some((topic) => topic === EVERYTHING || topics.has(topic))

  const leave = (query: LiveQuery, topic: string) => {
    const interested = byTopic.get(topic)
    interested?.delete(query)
    if (interested?.size === 0) byTopic.delete(topic)
  }

  const enter = (query: LiveQuery, topic: string) => {
    const interested = byTopic.get(topic)
    if (interested) interested.add(query)
    else byTopic.set(topic, new Set([query]))
  }

  const index = (query: LiveQuery, before: ReadonlySet<string>, after: ReadonlySet<string>) => {
    for (const topic of before) if (!after.has(topic)) leave(query, topic)
    for (const topic of after) if (!before.has(topic)) enter(query, topic)
  }

  const dropped = (query: LiveQuery) => {
    keptInAll -= kept.get(query)?.length ?? 0
    kept.delete(query)
  }

  /** The oldest but this one, of the net whose answers are the most: others go on to find theirs. */
  const nextToDrop = (newest: LiveQuery): LiveQuery | undefined => {
    const sums = new Map<string, number>()
    for (const { length, net } of kept.values()) sums.set(net, (sums.get(net) ?? 0) + length)
    const others = [...kept].filter(([query]) => query !== newest)
    const most = Math.max(...others.map(([, { net }]) => sums.get(net)!))
    return others.find(([, { net }]) => sums.get(net) === most)?.[0]
  }

  const noteKept = (query: LiveQuery, length: number, net: string) => {
    dropped(query)
    kept.set(query, { length, net })
    keptInAll += length
    while (keptInAll > keep) {
      const next = nextToDrop(query)
      if (!next) return
      next.withdraw()
    }
  }

  const create = (query: Query): LiveQuery => {
    let net = ''
    const live: LiveQuery = newLiveQuery(query, {
      ...options,
      frames,
      inTurn: (clients, work) => {
        const client = reads.first(clients)
        net = client.net
        return withPermit(reads, client, work)
      },
      epoch: () => epoch,
      index: (before, after) => index(live, before, after),
      isLost: (position, topics) => losses.since(position, about(topics)) !== 'unchanged',
      hasChanged: (position, topics) => changes.since(position, about(topics)) !== 'unchanged',
      kept: (length) => noteKept(live, length, net),
      dropped: () => dropped(live),
      idle: () => queries.delete(query.key),
    })
    queries.set(query.key, live)
    return live
  }

  const watch: LiveQueries['watch'] = (query, subscriber, seen) =>
    (queries.get(query.key) ?? create(query)).join(subscriber, seen)

  const mayStillBeRead: LiveQueries['mayStillBeRead'] = (seen) =>
    options.isCurrent() &&
    seen.epoch === epoch &&
    !isExpired(seen) &&
    losses.since(seen.position, about(new Set(seen.topics))) === 'unchanged'

  const observe: LiveQueries['observe'] = ({ position, topics, ends }) => {
    const isLoss = ends !== undefined
    changes.note(position, topics)
    if (isLoss) losses.note(position, topics.filter(isOfOne))
    for (const topic of topics)
      for (const query of byTopic.get(topic) ?? []) {
        if (isLoss && isOfOne(topic)) query.withdraw()
        query.touch(position)
      }
  }

  const clear: LiveQueries['clear'] = (position) => {
    for (const recent of [changes, losses]) recent.note(position, [EVERYTHING])
    for (const query of [...queries.values()]) {
      query.withdraw()
      query.touch(position)
      query.hurry()
    }
  }

  const restart = () => {
    epoch += 1
    losses.restart()
    changes.restart()
    for (const query of [...queries.values()]) query.restart()
  }

  const counts = () => {
    const subscriptions = [...queries.values()].reduce((sum, query) => sum + query.size(), 0)
    return { queries: queries.size, subscriptions, kept: keptInAll }
  }

  return { watch, mayStillBeRead, observe, clear, restart, counts }
}
