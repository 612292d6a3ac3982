import { Rejected } from '../engine/rejected.ts'
import type { Gate } from '../gate.ts'
import { HttpError } from '../http/http-error.ts'
import type { Answer, LiveQueriesOptions, Query, Seen, Subscriber } from './live-queries.ts'

/** One query with all who want its answer. */
export type LiveQuery = {
  /** Gives what ends the subscription. */
  join(subscriber: Subscriber, seen?: Seen): () => void
  /** Its answer is another one once the read models have come to a position. */
  touch(position: bigint): void
  /** Somebody has lost a right about it: what is on its way to subscribers must not arrive. */
  withdraw(): void
  /** Positions begin anew: whatever it has shown is worth nothing. */
  restart(): void
  size(): number
}

export type LiveQueryOptions = LiveQueriesOptions & {
  readonly gate: Gate
  /** Has the query touched by the topics of its newest answer, and no longer by others. */
  readonly index: (before: ReadonlySet<string>, after: ReadonlySet<string>) => void
  /** Whether somebody has lost a right about these topics since a snapshot. */
  readonly isLost: (position: bigint, topics: ReadonlySet<string>) => boolean
  /** Whether anything about these topics has happened since a snapshot. */
  readonly hasChanged: (position: bigint, topics: ReadonlySet<string>) => boolean
  /** Nobody is left. */
  readonly idle: () => void
}

/** At least so long between two answers: a burst of changes gives one. */
const REST_MS = 60
/** The rest grows with what an answer costs: pushing takes a quarter of the time at most. */
const REST_FACTOR = 3
const MAX_REST_MS = 160
const MIN_REST_MS = 10
const RETRY_MS = 100
const MAX_RETRY_MS = 2_000
/** A query that cannot be asked for this long fails: its subscribers come again. */
const PATIENCE_MS = 10_000

/** Whether asking again may help. */
const mayPass = (error: unknown) => !(error instanceof HttpError || error instanceof Rejected)

type Joined = { readonly subscriber: Subscriber; readonly since: number; awaitsFirst: boolean }

export const newLiveQuery = (query: Query, options: LiveQueryOptions): LiveQuery => {
  const { caughtUp, shown, heard, isAlive, observe, gate, index, isLost, hasChanged, idle } = options
  const joined = new Set<Joined>()
  let topics: ReadonlySet<string> = new Set()
  let last: { readonly answer: Answer; readonly position: bigint } | undefined
  /** The position that the next answer has to show; undefined while the last one holds. */
  let wanted: bigint | undefined
  let touches = 0
  let touchedAt = 0
  let runs = 0
  let running = false
  let timer: NodeJS.Timeout | undefined
  let restUntil = 0
  let failing: { readonly since: number; delay: number } | undefined
  let expiry: NodeJS.Timeout | undefined
  let era = 0
  let restDelay = MIN_REST_MS

  const isOver = () => joined.size === 0

  const end = () => {
    clearTimeout(timer)
    clearTimeout(expiry)
    index(topics, new Set())
    topics = new Set()
    last = undefined
    idle()
  }

  const schedule = () => {
    if (running || timer || isOver() || wanted === undefined) return
    const wait = Math.max(0, restUntil - performance.now())
    timer = setTimeout(() => void run(), wait).unref()
  }

  const touch = (position: bigint) => {
    if (wanted === undefined) touchedAt = performance.now()
    if (wanted === undefined || position > wanted) wanted = position
    touches += 1
    schedule()
  }

  const follow = (after: ReadonlySet<string>) => {
    index(topics, after)
    topics = after
  }

  const watchExpiry = ({ expiresAt }: Answer) => {
    clearTimeout(expiry)
    if (expiresAt === undefined) return
    expiry = setTimeout(() => touch(heard()), Math.min(Math.max(0, expiresAt - Date.now()) + 1, 2 ** 31 - 1)).unref()
  }

  /** Those who joined while it was asked may have missed what was answered to them before: they get the next one. */
  const tell = (answer: Answer, position: bigint, run: number) => {
    let awaited = false
    for (const one of [...joined]) {
      if (one.since >= run) awaited = true
      else {
        one.awaitsFirst = false
        one.subscriber.answer(answer, position)
      }
    }
    if (awaited) touch(heard())
  }

  /** Asks again a little later: there is nothing that may be sent now. */
  const rest = () => {
    restDelay = Math.min(2 * restDelay, MAX_RETRY_MS)
    restUntil = performance.now() + restDelay
    touch(heard())
  }

  const fail = (error: unknown) => {
    for (const { subscriber } of [...joined]) subscriber.failed(error)
    joined.clear()
    end()
  }

  const attempt = async () => {
    const [target, run, began, more] = [wanted!, ++runs, era, touches]
    wanted = undefined
    touches = 0
    const heardAt = touchedAt
    await caughtUp(target)
    // Read models and caches are fed by two followers: of what only one of them has seen, nothing is taken for granted.
    const wasAlive = isAlive()
    const asked = await gate(async () => {
      if (isOver() || !wasAlive) return undefined
      const position = shown() < heard() ? shown() : heard()
      return { answer: await query.ask(), position }
    })
    if (isOver()) return
    if (began !== era) return touch(0n)
    if (!asked) return rest()
    const { answer, position } = asked
    const after = new Set(answer.topics)
    const mayBeSent = isAlive() && !isLost(position, after) && !isLost(position, topics)
    // What happened meanwhile to topics that it had before has touched it.
    const isNew = [...after].filter((topic) => !topics.has(topic))
    const changed = isNew.length > 0 && hasChanged(position, new Set(isNew))
    follow(after)
    if (!mayBeSent) return rest()
    if (changed) touch(heard())
    failing = undefined
    restDelay = MIN_REST_MS
    watchExpiry(answer)
    const started = performance.now()
    last = { answer, position }
    tell(answer, position, run)
    observe?.(performance.now() - heardAt, Math.max(0, more - 1))
    const cost = performance.now() - started
    restUntil = performance.now() + Math.min(MAX_REST_MS, Math.max(REST_MS, REST_FACTOR * cost))
  }

  const run = async () => {
    timer = undefined
    if (isOver() || wanted === undefined) return
    running = true
    try {
      await attempt()
    } catch (error) {
      if (!mayPass(error)) return fail(error)
      failing ??= { since: performance.now(), delay: RETRY_MS }
      if (performance.now() - failing.since > PATIENCE_MS) return fail(error)
      restUntil = performance.now() + failing.delay
      failing.delay = Math.min(2 * failing.delay, MAX_RETRY_MS)
      touch(heard())
    } finally {
      running = false
      schedule()
    }
  }

  const join = (subscriber: Subscriber, seen?: Seen) => {
    const one: Joined = { subscriber, since: running ? runs : -1, awaitsFirst: true }
    joined.add(one)
    if (seen) {
      const known = new Set(seen.topics)
      if (!last) follow(new Set([...topics, ...known]))
      if (hasChanged(seen.position, known)) touch(heard())
    } else if (last && wanted === undefined && !running && isAlive()) {
      const { answer, position } = last
      queueMicrotask(() => joined.has(one) && one.awaitsFirst && subscriber.answer(answer, position))
    } else touch(heard())
    return () => {
      if (joined.delete(one) && isOver()) end()
    }
  }

  const restart = () => {
    era += 1
    last = undefined
    wanted = undefined
    touch(0n) // where the log begins anew, nobody has heard of a position yet
  }

  const withdraw = () => {
    for (const { subscriber } of [...joined]) subscriber.withdraw()
  }

  return { join, touch, withdraw, restart, size: () => joined.size }
}
