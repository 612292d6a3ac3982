import { newRecentChanges } from '../engine/recent-changes.ts'
import { newGate } from '../gate.ts'
import { isId } from '../ids.ts'
import { type LiveQuery, newLiveQuery } from './live-query.ts'

/** What a query gives: its value as JSON text, and what it was made of. */
export type Answer = {
  readonly value: string
  /** An event about one of these changes the value. */
  readonly topics: readonly string[]
  /** When the right to see it ends without an event, in milliseconds since the epoch. */
  readonly expiresAt?: number | undefined
  /** How far in its stream a trace had come, for a query that goes on from there. */
  readonly revision?: number | undefined
  /** There is more already: go on from `revision` at once. */
  readonly isPart?: boolean | undefined
}

/** Something that can be asked again and again; those with the same key are one. */
export type Query = {
  readonly key: string
  readonly ask: () => Promise<Answer>
}

/** Who wants to know. `failed` is called at most once, and ends the subscription. */
export type Subscriber = {
  /** Called with each new value, and the position of the snapshot that it was read from. */
  readonly answer: (answer: Answer, position: bigint) => void
  /** What was handed out may not be read any more: what has not been sent yet must not be sent. */
  readonly withdraw: () => void
  readonly failed: (error: unknown) => void
}

/** A snapshot after which only news counts: what the subscriber has seen already. */
export type Seen = { readonly position: bigint; readonly topics: readonly string[] }

/** Queries whose subscribers are told of each change. Equal ones are asked once. */
export type LiveQueries = {
  /** Subscribes; gives what ends the subscription. With `seen` the first answer comes with the first change after it. */
  watch(query: Query, subscriber: Subscriber, seen?: Seen): () => void
  /** Takes note of an event. Called for every event before its write is answered. */
  observe(event: Change): void
  /** Asks everything again: something has happened that this node does not understand. */
  clear(): void
  /** The same for a log in another epoch, where positions begin anew. */
  restart(): void
  counts(): LiveCounts
}

/** `ends` is stated when an event takes somebody's right to read. */
export type Change = { readonly position: bigint; readonly topics: readonly string[]; readonly ends: unknown }

export type LiveCounts = {
  readonly queries: number
  readonly subscriptions: number
}

export type LiveQueriesOptions = {
  /** How far the read models have come. */
  readonly shown: () => bigint
  /** Resolves when they have come to a position. @throws Unavailable */
  readonly caughtUp: (position: bigint) => Promise<void>
  /** The last position that this node has heard of. */
  readonly heard: () => bigint
  /** False while this node hears nothing of the log: then nobody knows who may still read what, and nothing is sent. */
  readonly isAlive: () => boolean
  /** Told of each value that is handed out: milliseconds since the change that it shows was heard of, and how many more it shows. */
  readonly observe?: (ms: number, coalesced: number) => void
}

/** Whether a topic is one thing, and no list: a list that shows something has that among its topics as well. */
const isOfOne = (topic: string) => isId(topic)

/** How many queries are asked at once. */
const AT_ONCE = 4
const REMEMBERED_LOSSES = 5_000
const REMEMBERED_CHANGES = 5_000

export const newLiveQueries = (options: LiveQueriesOptions): LiveQueries => {
  const { heard } = options
  const queries = new Map<string, LiveQuery>()
  const byTopic = new Map<string, Set<LiveQuery>>()
  const losses = newRecentChanges<readonly string[]>(REMEMBERED_LOSSES)
  const changes = newRecentChanges<readonly string[]>(REMEMBERED_CHANGES)
  const gate = newGate(AT_ONCE)

  const about = (topics: ReadonlySet<string>) => (changed: readonly string[]) =>
    changed.some((topic) => topics.has(topic))

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

  const create = (query: Query): LiveQuery => {
    const live: LiveQuery = newLiveQuery(query, {
      ...options,
      gate,
      index: (before, after) => index(live, before, after),
      isLost: (position, topics) => losses.since(position, about(topics)) !== 'unchanged',
      hasChanged: (position, topics) => changes.since(position, about(topics)) !== 'unchanged',
      idle: () => queries.delete(query.key),
    })
    queries.set(query.key, live)
    return live
  }

  const watch: LiveQueries['watch'] = (query, subscriber, seen) =>
    (queries.get(query.key) ?? create(query)).join(subscriber, seen)

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

  const clear = () => {
    for (const query of [...queries.values()]) query.touch(heard())
  }

  const restart = () => {
    losses.restart()
    changes.restart()
    for (const query of [...queries.values()]) query.restart()
  }

  const counts = () => {
    const subscriptions = [...queries.values()].reduce((sum, query) => sum + query.size(), 0)
    return { queries: queries.size, subscriptions }
  }

  return { watch, observe, clear, restart, counts }
}
