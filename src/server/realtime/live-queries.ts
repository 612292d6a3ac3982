import { newRecentChanges } from '../../eventstore/engine/recent-changes.ts'
import { isId } from '../../base/ids.ts'
import type { NodePermits } from '../http/node-permits.ts'
import { withPermit } from '../../base/current-client.ts'
import type { Query, SeenState, Subscriber, Subscription } from './answer.ts'
import { isExpired } from './kept-answer.ts'
import { type LiveQuery, type LiveQueryOptions, newLiveQuery } from './live-query.ts'

/** Queries with subscribers, which are notified of each change. Equal queries are executed once. */
export type LiveQueries = {
  /** Subscribes to a query. The subscriber gets an answer at once; with `seen`, only after the first change since that. */
  watch(query: Query, subscriber: Subscriber, seen?: SeenState): Subscription
  /** False once a right to read an answer is lost, or this is unknown: then sending it has to stop. */
  mayStillBeRead(seen: SeenState): boolean
  /** Called for every event before its write is answered. */
  observe(event: Change): void
  /** Executes all queries again: at this position there is an event that this node cannot read. */
  clear(position: bigint): void
  counts(): LiveCounts
}

/** `takesRight`: whether an event takes away a right to read. */
type Change = { readonly position: bigint; readonly topics: readonly string[]; readonly takesRight: boolean }

type LiveCounts = {
  readonly queries: number
  readonly subscriptions: number
  /** Characters of all answers that are kept. */
  readonly kept: number
}

/** The options that all queries share. */
type Shared = 'readModelsPosition' | 'caughtUp' | 'lastSeen' | 'isCurrent' | 'observe'

export type LiveQueriesOptions = Pick<LiveQueryOptions, Shared> & {
  /** How many characters of answers are kept. A query whose answer is dropped is executed again. */
  readonly keep?: number
  /** Limit how many queries are executed at once, and the memory of values that are being sent. */
  readonly permits: Pick<NodePermits, 'reads' | 'frames'>
}

/** Whether a topic is a single thing and not a list. A list also has the things that it shows among its topics. */
const isOfOne = (topic: string) => isId(topic)

/** The topic of an event that may concern everything. */
const EVERYTHING = '*'

/**
 * How many losses of rights, and how many changes, are remembered: more than happen during one execution. An answer that is older than all of them is
 * dropped, and its query executed again.
 */
const REMEMBERED_LOSSES = 5_000
const REMEMBERED_CHANGES = 5_000
/** Characters of answers that are kept for equal queries: four of the largest answers. */
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
  /** The lengths of the kept answers, and the network of the client for which each was read; the oldest first. */
  const keptSizes = new Map<LiveQuery, { readonly length: number; readonly net: string }>()
  let keptInAll = 0

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

  const noteDropped = (query: LiveQuery) => {
    keptInAll -= keptSizes.get(query)?.length ?? 0
    keptSizes.delete(query)
  }

  /** The oldest answer except the newest query's, of the network with the most kept, so that other clients keep theirs. */
  const nextToDrop = (newest: LiveQuery): LiveQuery | undefined => {
    const sums = new Map<string, number>()
    for (const { length, net } of keptSizes.values()) sums.set(net, (sums.get(net) ?? 0) + length)
    const others = [...keptSizes].filter(([query]) => query !== newest)
    const most = Math.max(...others.map(([, { net }]) => sums.get(net)!))
    return others.find(([, { net }]) => sums.get(net) === most)?.[0]
  }

  const noteKept = (query: LiveQuery, length: number, net: string) => {
    noteDropped(query)
    keptSizes.set(query, { length, net })
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
      index: (before, after) => index(live, before, after),
      isLost: (position, topics) => losses.since(position, about(topics)) !== 'unchanged',
      hasChanged: (position, topics) => changes.since(position, about(topics)) !== 'unchanged',
      onKept: (length) => noteKept(live, length, net),
      onDropped: () => noteDropped(live),
      onIdle: () => queries.delete(query.key),
    })
    queries.set(query.key, live)
    return live
  }

  const watch: LiveQueries['watch'] = (query, subscriber, seen) =>
    (queries.get(query.key) ?? create(query)).join(subscriber, seen)

  const mayStillBeRead: LiveQueries['mayStillBeRead'] = (seen) =>
    options.isCurrent() && !isExpired(seen) && losses.since(seen.position, about(new Set(seen.topics))) === 'unchanged'

  const observe: LiveQueries['observe'] = ({ position, topics, takesRight }) => {
    changes.note(position, topics)
    if (takesRight) losses.note(position, topics.filter(isOfOne))
    for (const topic of topics)
      for (const query of byTopic.get(topic) ?? []) {
        if (takesRight && isOfOne(topic)) query.withdraw()
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

  const counts = () => {
    const subscriptions = [...queries.values()].reduce((sum, query) => sum + query.size(), 0)
    return { queries: queries.size, subscriptions, kept: keptInAll }
  }

  return { watch, mayStillBeRead, observe, clear, counts }
}
