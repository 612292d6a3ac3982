import { hash } from 'node:crypto'
import { Rejected } from '../engine/rejected.ts'
import { HttpError } from '../http/http-error.ts'
import { resultFrame } from './protocol.ts'
import type { Gate } from '../gate.ts'
import { REST_MS, newPace } from './pace.ts'
import type { Answer, Current, Query, Seen, Subscriber, Subscription } from './answer.ts'

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

export type LiveQueryOptions = {
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
  readonly gate: Gate
  /** Counts the epochs of the log that this node has met. */
  readonly epoch: () => number
  /** Has the query touched by the topics of its newest answer, and no longer by others. */
  readonly index: (before: ReadonlySet<string>, after: ReadonlySet<string>) => void
  /** Whether an event after a snapshot has taken a right about these topics away. */
  readonly isLost: (position: bigint, topics: ReadonlySet<string>) => boolean
  /** Whether anything about these topics has happened since a snapshot. */
  readonly hasChanged: (position: bigint, topics: ReadonlySet<string>) => boolean
  /** Told of each answer that is kept, by its length, and when it is dropped. */
  readonly kept: (length: number) => void
  readonly dropped: () => void
  /** Called when the last subscriber has gone. */
  readonly idle: () => void
}

/** Whether asking again may help. */
const isTemporary = (error: unknown) => !(error instanceof HttpError || error instanceof Rejected)

/** An answer counts for who joined before it was asked for: `since` is the number of the last question until then. */
type Joined = { readonly subscriber: Subscriber; readonly since: number }

type Last = Current & { readonly run: number }

/** Encodes a value for one id at a time: most clients use the same. */
const newFrames = (value: string): Current['frame'] => {
  let made: { readonly id: string; readonly frame: Buffer } | undefined
  return (id) => {
    if (made?.id !== id) made = { id, frame: Buffer.from(resultFrame(id, value)) }
    return made.frame
  }
}

/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1

const cpuMs = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000

/** Whether the right to see an answer has ended by the clock. */
export const isExpired = ({ expiresAt }: Pick<Seen, 'expiresAt'>) => expiresAt !== undefined && expiresAt <= Date.now()

export const newLiveQuery = (query: Query, options: LiveQueryOptions): LiveQuery => {
  const {
    caughtUp,
    readModelsPosition,
    lastSeen,
    isCurrent,
    observe,
    gate,
    epoch,
    index,
    isLost,
    hasChanged,
    kept,
    dropped,
    idle,
  } = options
  const joined = new Set<Joined>()
  let topics: ReadonlySet<string> = new Set()
  let last: Last | undefined
  /** The position that the next answer has to show; undefined while the last one holds. */
  let wanted: bigint | undefined
  let touches = 0
  let touchedAt = 0
  let runs = 0
  let running = false
  let timer: NodeJS.Timeout | undefined
  let expiry: NodeJS.Timeout | undefined
  const pace = newPace()

  const isOver = () => joined.size === 0

  const withdraw = () => {
    last = undefined
    dropped()
  }

  const follow = (after: ReadonlySet<string>) => {
    index(topics, after)
    topics = after
  }

  const end = () => {
    clearTimeout(timer)
    clearTimeout(expiry)
    follow(new Set())
    withdraw()
    idle()
  }

  const schedule = () => {
    if (running || timer || isOver() || wanted === undefined) return
    timer = setTimeout(() => void run(), pace.wait()).unref()
  }

  const touch = (position: bigint) => {
    if (wanted === undefined) touchedAt = performance.now()
    if (wanted === undefined || position > wanted) wanted = position
    touches += 1
    schedule()
  }

  const watchExpiry = ({ expiresAt }: Pick<Seen, 'expiresAt'>) => {
    clearTimeout(expiry)
    if (expiresAt === undefined) return
    const left = Math.max(0, expiresAt - Date.now()) + 1
    expiry = setTimeout(() => touch(lastSeen()), Math.min(left, MAX_TIMER_MS)).unref()
  }

  const keep = (answer: Answer, position: bigint, run: number) => {
    const { value, topics, expiresAt } = answer
    const seen = { position, topics, expiresAt, epoch: epoch(), notBefore: performance.now() + REST_MS }
    last = { answer, digest: hash('sha1', value), frame: newFrames(value), seen, run }
    kept(value.length)
  }

  /** Those who joined while it was asked may have missed what was answered to them before: they get the next one. */
  const tell = (run: number) => {
    let awaited = false
    for (const one of [...joined]) {
      if (one.since >= run) awaited = true
      else one.subscriber.changed()
    }
    if (awaited) touch(lastSeen())
  }

  /** There is nothing that may be sent now. */
  const askLater = () => {
    pace.refused()
    touch(lastSeen())
  }

  const fail = (error: unknown) => {
    for (const { subscriber } of [...joined]) subscriber.failed(error)
    joined.clear()
    end()
  }

  /** Asks the query, and gives the position of a snapshot that the answer is not older than. */
  const ask = () => {
    // Read models and caches are fed by two followers: of what only one of them has seen, nothing is taken for granted.
    const wasAlive = isCurrent()
    return gate(query.callerKey, async () => {
      if (isOver() || !wasAlive) return undefined
      const position = readModelsPosition() < lastSeen() ? readModelsPosition() : lastSeen()
      return { answer: await query.ask(), position }
    })
  }

  const attempt = async () => {
    const [target, run, began, more, firstTouchedAt] = [wanted!, ++runs, epoch(), touches, touchedAt]
    wanted = undefined
    touches = 0
    await caughtUp(target)
    const asked = await ask()
    if (isOver()) return
    if (began !== epoch()) return touch(0n)
    if (!asked) return askLater()
    const { answer, position } = asked
    const after = new Set(answer.topics)
    const mayBeSent = isCurrent() && !isLost(position, after) && !isLost(position, topics)
    // What happened meanwhile to topics that it had before has touched it.
    const added = [...after].filter((topic) => !topics.has(topic))
    const changed = added.length > 0 && hasChanged(position, new Set(added))
    follow(after)
    if (!mayBeSent) {
      withdraw() // it is no longer found by what it shows
      return askLater()
    }
    if (changed) touch(lastSeen())
    watchExpiry(answer)
    const before = process.threadCpuUsage()
    keep(answer, position, run)
    tell(run)
    pace.answered(cpuMs(process.threadCpuUsage(before)))
    observe?.(performance.now() - firstTouchedAt, Math.max(0, more - 1))
  }

  const run = async () => {
    timer = undefined
    if (isOver() || wanted === undefined) return
    running = true
    try {
      await attempt()
    } catch (error) {
      if (!isTemporary(error)) return fail(error)
      if (!pace.failed()) return fail(error)
      touch(lastSeen())
    } finally {
      running = false
      schedule()
    }
  }

  const mayBeSent = ({ seen }: Last) => isCurrent() && !isExpired(seen)

  const current = (one: Joined): Current | undefined => {
    if (last && last.run > one.since && mayBeSent(last)) return last
    if (wanted === undefined && !running) touch(lastSeen())
    return undefined
  }

  /** Nothing is told of what the subscriber knows already. */
  const goOn = (seen: Seen) => {
    pace.delayUntil(seen.notBefore)
    if (!last) {
      follow(new Set([...topics, ...seen.topics]))
      watchExpiry(seen)
    }
    if (seen.epoch !== epoch() || hasChanged(seen.position, new Set(seen.topics))) touch(lastSeen())
  }

  const join: LiveQuery['join'] = (subscriber, seen) => {
    const isFresh = last !== undefined && wanted === undefined && !running && mayBeSent(last)
    const one: Joined = { subscriber, since: isFresh && !seen ? last!.run - 1 : runs }
    joined.add(one)
    if (seen) goOn(seen)
    else if (isFresh) queueMicrotask(() => joined.has(one) && subscriber.changed())
    else touch(lastSeen())
    const stop = () => {
      if (joined.delete(one) && isOver()) end()
    }
    return { current: () => (joined.has(one) ? current(one) : undefined), stop }
  }

  const hurry = () => {
    pace.hurry()
    clearTimeout(timer)
    timer = undefined
    schedule()
  }

  const restart = () => {
    withdraw()
    wanted = undefined
    hurry()
    touch(0n) // where the log begins anew, no position has been seen yet
  }

  return { join, touch, withdraw, hurry, restart, size: () => joined.size }
}
