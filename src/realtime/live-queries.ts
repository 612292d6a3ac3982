import { newRecentChanges } from '../engine/recent-changes.ts'
import { isId } from '../ids.ts'
import { newGate } from '../gate.ts'
import { type LiveQuery, isExpired, newLiveQuery } from './live-query.ts'

/** What a query gives: its value as JSON text, and what it was made of. */
export type Answer = {
  readonly value: string
  /** An event about one of these changes the value. */
  readonly topics: readonly string[]
  /** When the right to see it ends without an event, in milliseconds since the epoch. */
  readonly expiresAt?: number | undefined
  /** Holds nothing that a client with an answer from before does not have. */
  readonly hasNoNews?: boolean | undefined
  /** What is asked once the client has this answer, for a query that only tells what is new. */
  readonly next?: Query | undefined
  /** There is more already: `next` is to be asked at once. */
  readonly hasMore?: boolean | undefined
}

/** Something that can be asked again and again; those with the same key are one. */
export type Query = {
  readonly key: string
  /** For whom it is asked: different callers take turns. */
  readonly callerKey: string
  readonly ask: () => Promise<Answer>
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
  /** The frame that tells it to the subscription of this id, as bytes: made once for all clients that use the same id. */
  readonly frame: (id: string) => Buffer
  readonly seen: Seen
}

/** Who wants to know. `failed` is called at most once, and ends the subscription. */
export type Subscriber = {
  /** There is a newer answer, to be taken with `current`. */
  readonly changed: () => void
  readonly failed: (error: unknown) => void
}

export type Subscription = {
  /** The newest answer; undefined while none may be sent: then `changed` is called once there is one. */
  current(): Current | undefined
  stop(): void
}

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

export type LiveQueriesOptions = {
  /** The checkpoint of the read models. */
  readonly readModelsAt: () => bigint
  /** Resolves when they have come to a position. @throws Unavailable */
  readonly caughtUp: (position: bigint) => Promise<void>
  /** The last position that the caches of this node have observed. */
  readonly lastSeen: () => bigint
  /** False while this node does not follow the log: then it is not known who may still read what, and nothing is sent. */
  readonly isCurrent: () => boolean
  /** Called with each answer: milliseconds since the change that it shows was observed, and how many more it shows. */
  readonly observe?: (ms: number, coalesced: number) => void
  /** How many characters of answers are kept in all: those that are left out are asked for again. */
  readonly keep?: number
}

/** Whether a topic is one thing, and no list: a list that shows something has that among its topics as well. */
const isOfOne = (topic: string) => isId(topic)

/** Something has happened that may concern everything. */
const EVERYTHING = '*'

/** How many queries are asked at once. */
const AT_ONCE = 4
const REMEMBERED_LOSSES = 5_000
const REMEMBERED_CHANGES = 5_000
const KEPT = 64 * 1024 * 1024

export const newLiveQueries = (options: LiveQueriesOptions): LiveQueries => {
  const { keep = KEPT } = options
  const queries = new Map<string, LiveQuery>()
  const byTopic = new Map<string, Set<LiveQuery>>()
  const losses = newRecentChanges<readonly string[]>(REMEMBERED_LOSSES)
  const changes = newRecentChanges<readonly string[]>(REMEMBERED_CHANGES)
  const gate = newGate(AT_ONCE)
  /** The characters of the answers that are kept; the oldest first. */
  const kept = new Map<LiveQuery, number>()
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
    keptInAll -= kept.get(query) ?? 0
    kept.delete(query)
  }

  const noteKept = (query: LiveQuery, length: number) => {
    dropped(query)
    kept.set(query, length)
    keptInAll += length
    for (const [oldest] of kept) {
      if (keptInAll <= keep || oldest === query) return
      oldest.withdraw()
    }
  }

  const create = (query: Query): LiveQuery => {
    const live: LiveQuery = newLiveQuery(query, {
      ...options,
      gate,
      epoch: () => epoch,
      index: (before, after) => index(live, before, after),
      isLost: (position, topics) => losses.since(position, about(topics)) !== 'unchanged',
      hasChanged: (position, topics) => changes.since(position, about(topics)) !== 'unchanged',
      kept: (length) => noteKept(live, length),
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
