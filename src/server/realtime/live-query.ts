import type { Client } from '../../base/permits.ts'
import type { Answer, CurrentAnswer, Query, SeenState, Subscriber, Subscription } from './answer.ts'
import { type Execution, newScheduler } from './scheduler.ts'
import { type KeptAnswerOptions, isExpired, newKeptAnswer } from './kept-answer.ts'

/** One query with all its subscribers. */
export type LiveQuery = {
  join(subscriber: Subscriber, seen?: SeenState): Subscription
  /** Notes that an event at a position changes the answer: the query is executed once the read models have reached the position. */
  touch(position: bigint): void
  /** Drops the kept answer, which may not be sent any more, or for which there is no memory. */
  withdraw(): void
  /** Executes it without any more delay, if it is due. */
  hurry(): void
  size(): number
}

export type LiveQueryOptions = KeptAnswerOptions & {
  /** The checkpoint of the read models. */
  readonly readModelsPosition: () => bigint
  /** Resolves when the read models have reached a position. @throws Unavailable */
  readonly caughtUp: (position: bigint) => Promise<void>
  /** The last position that the caches of this node have observed. */
  readonly lastSeen: () => bigint
  /** False while this node does not follow the log: then it is unknown who may still read what, and nothing is sent. */
  readonly isCurrent: () => boolean
  /** Called with each answer: milliseconds since the first change that it shows was observed, and how many more changes it shows. */
  readonly observe?: (ms: number, coalesced: number) => void
  /** Runs work when one of its clients, of which there is at least one, has its turn. @throws Busy */
  readonly inTurn: <T>(clients: readonly Client[], work: () => Promise<T>) => Promise<T>
  /** Whether an event after a snapshot has taken away a right about these topics. */
  readonly isLost: (position: bigint, topics: ReadonlySet<string>) => boolean
  /** Whether there was an event about these topics after a snapshot. */
  readonly hasChanged: (position: bigint, topics: ReadonlySet<string>) => boolean
  /** Called when the last subscriber has gone. */
  readonly onIdle: () => void
}

/** A subscriber, and the number of the last attempt before it joined: only answers of later attempts count for it. */
type JoinedSubscriber = { readonly subscriber: Subscriber; readonly attemptBefore: number }

const cpuMs = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000

export const newLiveQuery = (query: Query, options: LiveQueryOptions): LiveQuery => {
  const { caughtUp, readModelsPosition, lastSeen, isCurrent, observe, inTurn, isLost, hasChanged, onIdle } = options
  const joined = new Set<JoinedSubscriber>()
  let attempts = 0
  const isOver = () => joined.size === 0

  /** Executes the query, and returns a position that its snapshot has at least. */
  const execute = () => {
    // Read models and caches have two followers: only events that both have seen count.
    const wasAlive = isCurrent()
    const clients = new Set([...joined].map(({ subscriber }) => subscriber.client()))
    return inTurn([...clients], async () => {
      if (isOver() || !wasAlive) return undefined
      const position = readModelsPosition() < lastSeen() ? readModelsPosition() : lastSeen()
      return { answer: await query.ask(), position }
    })
  }

  /**
   * Follows the topics of an answer. Returns false if the answer may not be sent, because a right about one of its topics, or of
   * those of the previous answer, was lost since its snapshot.
   */
  const followTopicsOf = ({ topics }: Answer, position: bigint): boolean => {
    const [before, after] = [keptAnswer.topics(), new Set(topics)]
    const mayBeSent = isCurrent() && !isLost(position, after) && !isLost(position, before)
    // Events about its earlier topics have touched the query already.
    const added = [...after].filter((topic) => !before.has(topic))
    const changed = added.length > 0 && hasChanged(position, new Set(added))
    keptAnswer.follow(after)
    if (!mayBeSent)
      keptAnswer.withdraw() // events do not find it by its earlier topics any more
    else if (changed) touchNow()
    return mayBeSent
  }

  /** Notifies the subscribers. Those who joined during the attempt get the next answer, because this one may be too old for them. */
  const notify = (attempt: number) => {
    let awaited = false
    for (const one of [...joined]) {
      if (one.attemptBefore >= attempt) awaited = true
      else one.subscriber.changed()
    }
    if (awaited) touchNow()
  }

  /** Called if no answer may be sent now. */
  const tryLater = () => {
    scheduler.refused()
    touchNow()
  }

  const attempt = async (execution: Execution) => {
    const number = ++attempts
    await caughtUp(execution.position)
    if (isOver()) return
    const executed = await execute()
    if (isOver()) return
    if (!executed) return tryLater()
    const { answer, position } = executed
    if (!followTopicsOf(answer, position)) return tryLater()
    keptAnswer.watchExpiry(answer)
    const before = process.threadCpuUsage()
    keptAnswer.keep(answer, position, number)
    notify(number)
    scheduler.answered(cpuMs(process.threadCpuUsage(before)), joined.size * answer.value.length)
    observe?.(performance.now() - execution.firstChangeAt, Math.max(0, execution.changes - 1))
  }

  const end = () => {
    scheduler.stop()
    keptAnswer.end()
    onIdle()
  }

  const fail = (error: unknown) => {
    for (const { subscriber } of [...joined]) subscriber.failed(error)
    joined.clear()
    end()
  }

  const scheduler = newScheduler({ isOver, attempt, fail, lastSeen })
  /** The answer has to show everything that this node has observed. */
  const touchNow = () => scheduler.touch(lastSeen())
  const keptAnswer = newKeptAnswer(options, touchNow)

  const mayBeSent = ({ seen }: CurrentAnswer) => isCurrent() && !isExpired(seen)

  const current = (one: JoinedSubscriber): CurrentAnswer | undefined => {
    const last = keptAnswer.last()
    if (last && last.attempt > one.attemptBefore && mayBeSent(last)) return last
    if (scheduler.isIdle()) touchNow()
    return undefined
  }

  /** Joins a subscriber that has seen an answer: it is only notified of later changes. */
  const resume = (seen: SeenState) => {
    scheduler.delayUntil(seen.notBefore)
    if (!keptAnswer.last()) {
      keptAnswer.follow(new Set([...keptAnswer.topics(), ...seen.topics]))
      keptAnswer.watchExpiry(seen)
    }
    if (hasChanged(seen.position, new Set(seen.topics))) touchNow()
  }

  const join: LiveQuery['join'] = (subscriber, seen) => {
    const last = keptAnswer.last()
    const fresh = last && scheduler.isIdle() && mayBeSent(last) ? last : undefined
    const one: JoinedSubscriber = { subscriber, attemptBefore: fresh && !seen ? fresh.attempt - 1 : attempts }
    joined.add(one)
    if (seen) resume(seen)
    else if (fresh) queueMicrotask(() => joined.has(one) && subscriber.changed())
    else touchNow()
    const stop = () => {
      if (joined.delete(one) && isOver()) end()
    }
    return { current: () => (joined.has(one) ? current(one) : undefined), stop }
  }

  return {
    join,
    touch: scheduler.touch,
    withdraw: keptAnswer.withdraw,
    hurry: scheduler.hurry,
    size: () => joined.size,
  }
}
