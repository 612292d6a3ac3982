import type { Client } from '../base/permits.ts'
import type { Answer, Current, Query, Seen, Subscriber, Subscription } from './answer.ts'
import { type Due, newAsking } from './asking.ts'
import { type KeptAnswerOptions, isExpired, newKeptAnswer } from './kept-answer.ts'

/** One query with all who want its answer. */
export type LiveQuery = {
  join(subscriber: Subscriber, seen?: Seen): Subscription
  /** Its answer is another one once the read models have come to a position. */
  touch(position: bigint): void
  /** Gives up the answer that is kept: it may not be sent any more, or there is no room for it. */
  withdraw(): void
  /** What it waits for may have come: it is asked without any more delay. */
  hurry(): void
  /** Positions begin anew: its answer is dropped, and it is asked again. */
  restart(): void
  size(): number
}

export type LiveQueryOptions = KeptAnswerOptions & {
  /** The checkpoint of the read models. */
  readonly readModelsPosition: () => bigint
  /** Resolves when they have come to a position. @throws Unavailable */
  readonly caughtUp: (position: bigint) => Promise<void>
  /** The last position that the caches of this node have observed. */
  readonly lastSeen: () => bigint
  /** False while this node does not follow the log: then it is not known who may still read what, and nothing is sent. */
  readonly isCurrent: () => boolean
  /** Called with each answer: milliseconds since the change that it shows was observed, and how many more it shows. */
  readonly observe?: (ms: number, coalesced: number) => void
  /** Runs work when one of the clients that it is for has its turn, of which there is at least one. @throws Busy */
  readonly inTurn: <T>(clients: readonly Client[], work: () => Promise<T>) => Promise<T>
  /** Whether an event after a snapshot has taken a right about these topics away. */
  readonly isLost: (position: bigint, topics: ReadonlySet<string>) => boolean
  /** Whether anything about these topics has happened since a snapshot. */
  readonly hasChanged: (position: bigint, topics: ReadonlySet<string>) => boolean
  /** Called when the last subscriber has gone. */
  readonly idle: () => void
}

/** An answer counts for who joined before it was asked for: `since` is the number of the last attempt until then. */
type Joined = { readonly subscriber: Subscriber; readonly since: number }

const cpuMs = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000

export const newLiveQuery = (query: Query, options: LiveQueryOptions): LiveQuery => {
  const { caughtUp, readModelsPosition, lastSeen, isCurrent, observe, inTurn, epoch, isLost, hasChanged, idle } =
    options
  const joined = new Set<Joined>()
  let attempts = 0
  const isOver = () => joined.size === 0

  /** Asks the query, and gives the position of a snapshot that the answer is not older than. */
  const ask = () => {
    // Read models and caches are fed by two followers: of what only one of them has seen, nothing is taken for granted.
    const wasAlive = isCurrent()
    const clients = new Set([...joined].map(({ subscriber }) => subscriber.client()))
    return inTurn([...clients], async () => {
      if (isOver() || !wasAlive) return undefined
      const position = readModelsPosition() < lastSeen() ? readModelsPosition() : lastSeen()
      return { answer: await query.ask(), position }
    })
  }

  /**
   * Follows the topics of an answer. False when it may not be sent, because a right about one of them, or of those of the answer
   * before, has been lost since its snapshot.
   */
  const followTopicsOf = ({ topics }: Answer, position: bigint): boolean => {
    const [before, after] = [kept.topics(), new Set(topics)]
    const mayBeSent = isCurrent() && !isLost(position, after) && !isLost(position, before)
    // What happened meanwhile to topics that it had before has touched it.
    const added = [...after].filter((topic) => !before.has(topic))
    const changed = added.length > 0 && hasChanged(position, new Set(added))
    kept.follow(after)
    if (!mayBeSent)
      kept.withdraw() // it is no longer found by what it shows
    else if (changed) touchNow()
    return mayBeSent
  }

  /** Those who joined while it was asked may have missed what was answered to them before: they get the next one. */
  const tell = (attempt: number) => {
    let awaited = false
    for (const one of [...joined]) {
      if (one.since >= attempt) awaited = true
      else one.subscriber.changed()
    }
    if (awaited) touchNow()
  }

  /** There is nothing that may be sent now. */
  const askLater = () => {
    asking.refused()
    touchNow()
  }

  const attempt = async (due: Due) => {
    const [number, began] = [++attempts, epoch()]
    await caughtUp(due.position)
    if (isOver()) return
    const asked = await ask()
    if (isOver()) return
    if (began !== epoch()) return asking.touch(0n)
    if (!asked) return askLater()
    const { answer, position } = asked
    if (!followTopicsOf(answer, position)) return askLater()
    kept.watchExpiry(answer)
    const before = process.threadCpuUsage()
    kept.keep(answer, position, number)
    tell(number)
    asking.answered(cpuMs(process.threadCpuUsage(before)), joined.size * answer.value.length)
    observe?.(performance.now() - due.since, Math.max(0, due.touches - 1))
  }

  const end = () => {
    asking.stop()
    kept.end()
    idle()
  }

  const fail = (error: unknown) => {
    for (const { subscriber } of [...joined]) subscriber.failed(error)
    joined.clear()
    end()
  }

  const asking = newAsking({ isOver, attempt, fail, lastSeen })
  /** Something that this node has observed already has to be shown. */
  const touchNow = () => asking.touch(lastSeen())
  const kept = newKeptAnswer(options, touchNow)

  const mayBeSent = ({ seen }: Current) => isCurrent() && !isExpired(seen)

  const current = (one: Joined): Current | undefined => {
    const last = kept.last()
    if (last && last.attempt > one.since && mayBeSent(last)) return last
    if (asking.isIdle()) touchNow()
    return undefined
  }

  /** Nothing is told of what the subscriber knows already. */
  const goOn = (seen: Seen) => {
    asking.delayUntil(seen.notBefore)
    if (!kept.last()) {
      kept.follow(new Set([...kept.topics(), ...seen.topics]))
      kept.watchExpiry(seen)
    }
    if (seen.epoch !== epoch() || hasChanged(seen.position, new Set(seen.topics))) touchNow()
  }

  const join: LiveQuery['join'] = (subscriber, seen) => {
    const last = kept.last()
    const fresh = last && asking.isIdle() && mayBeSent(last) ? last : undefined
    const one: Joined = { subscriber, since: fresh && !seen ? fresh.attempt - 1 : attempts }
    joined.add(one)
    if (seen) goOn(seen)
    else if (fresh) queueMicrotask(() => joined.has(one) && subscriber.changed())
    else touchNow()
    const stop = () => {
      if (joined.delete(one) && isOver()) end()
    }
    return { current: () => (joined.has(one) ? current(one) : undefined), stop }
  }

  const restart = () => {
    kept.withdraw()
    asking.restart()
  }

  return {
    join,
    touch: asking.touch,
    withdraw: kept.withdraw,
    hurry: asking.hurry,
    restart,
    size: () => joined.size,
  }
}
