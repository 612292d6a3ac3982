import { type EventLog, type ExpectedRevision, LogUnavailable, WrongRevision, revisionNumber } from '../log/log.ts'
import { type Codec, UnknownEvent } from './codec.ts'
import { newBoundedCache } from './bounded-cache.ts'
import { type PendingCommand, type Command, type Context, type DecidedBatch, decideAll, toNewEvents } from './decide.ts'
import type { Watermark } from './watermark.ts'
import { InQuarantine, Unavailable } from './rejected.ts'
import { type DomainEvent, type Loaded, type StreamKind, streamName } from './stream.ts'

/** Where states come from when memory has none: the log, or a read model at the revision that its rows stand for. */
export type StateSource<State, Need> = {
  /** The state with at least what `needs` name. `known` is what memory holds, to be completed at its revision. */
  load(id: string, needs: readonly Need[], cached: Loaded<State> | undefined): Promise<Loaded<State>>
  /** Whether a state already has what a command needs. */
  covers?(state: State, need: Need): boolean
  /** Whether states come from the log itself: what such a one does not hold had not happened when it was loaded. */
  readonly readsLog?: boolean
}

/** What a command led to, and the position that the read models must pass before it can be read. */
export type TransactResult<Answer> = { readonly answer: Answer; readonly position: bigint }

export type TransactorOptions<State, Event extends DomainEvent, Need> = {
  readonly kind: StreamKind<State, Event>
  readonly source: StateSource<State, Need>
  readonly log: EventLog
  readonly codec: Codec
  /** The clock, in milliseconds. */
  readonly now: () => number
  /** False while this node hears nothing of the log: then states in memory may be long gone. Default true. */
  readonly isCurrent?: () => boolean
  /** How far the read models have come, as far as this node knows. */
  readonly readModels?: Pick<Watermark, 'position' | 'restart'>
  readonly deadlineMs?: number
  /** How many bytes the states in memory may weigh in all. Default 2 MiB. */
  readonly budget?: number
  /** @throws InQuarantine when the stream may not be written to. Default: all may. */
  readonly assertNotQuarantined?: (stream: string) => void
  /** Makes a state small enough to be kept. */
  readonly trim?: (state: State) => State
}

export type Transactor<State, Event, Need = void> = {
  /**
   * Loads, decides, appends; on a conflict decides again until the deadline. What appends nothing, or is refused, rests
   * on a state that was the stream's newest after the command came, like everything else.
   * @throws Rejected when the decision refuses
   * @throws Unavailable when the log is away; `stored` says what is known
   */
  transact<Answer>(
    id: string,
    command: Command<State, Event, Need, Answer>,
    context: Context,
  ): Promise<TransactResult<Answer>>
  /** The state that memory holds of a stream. A hint: an append under way may still fail. */
  peek(id: string): State | undefined
  /** Takes note of what has been appended, by whomever, so that no decision rests on a state that is gone. */
  observe(stream: string, revision: bigint): void
  forget(): void
}

type QueuedCommand<State, Event, Need> = PendingCommand<State, Event, Need> & {
  readonly deadline: number
  readonly resolve: (outcome: TransactResult<unknown>) => void
  readonly reject: (error: unknown) => void
}

/** A state to decide on. */
type LoadedState<State> = {
  readonly loaded: Loaded<State>
  /** Whether it was the newest when it was loaded: it stands on a read of the log, not on memory or a read model. */
  readonly isNewest: boolean
}

const MAX_COMMANDS = 256
const UNKNOWN_FUTURE = 2n ** 63n
const PAUSE_MS = 5

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Commands of one stream queue here and are decided together: 50 writers to one trace cost a few appends, not 50 rounds
 * of conflicts.
 */
export const newTransactor = <State, Event extends DomainEvent, Need = void>(
  options: TransactorOptions<State, Event, Need>,
): Transactor<State, Event, Need> => {
  const { kind, source, log, codec, now, isCurrent = () => true, readModels: models, deadlineMs = 5_000 } = options
  const { budget = 2 * 1024 * 1024, trim, assertNotQuarantined = () => {} } = options
  type Asked = QueuedCommand<State, Event, Need>
  const queues = new Map<string, Asked[]>()
  const cache = newBoundedCache<Loaded<State>>(budget, ({ state }) => kind.weigh(state))
  const inFlight = new Map<string, State>()
  let generation = 0 // goes up when nothing that was known or loaded before counts any more
  const observed = new Map<string, bigint>() // of streams with a queue: the newest revision that was observed meanwhile

  const remember = (id: string, loaded: Loaded<State>) => {
    cache.delete(id)
    if (revisionNumber(loaded.revision) < (observed.get(id) ?? -1n)) return
    cache.set(id, trim ? { ...loaded, state: trim(loaded.state) } : loaded)
  }

  const load = async (id: string, batch: readonly Asked[]): Promise<LoadedState<State>> => {
    const known = isCurrent() ? cache.get(id) : undefined
    const needs = batch.flatMap(({ command }) => (command.need === undefined ? [] : [command.need]))
    const missing = known ? needs.filter((need) => !source.covers?.(known.state, need)) : needs
    if (known && missing.length === 0) return { loaded: known, isNewest: false }
    return { loaded: await source.load(id, missing, known), isNewest: source.readsLog ?? false }
  }

  const hasEventsAfter = async (stream: string, revision: ExpectedRevision) => {
    for await (const _ of log.read(stream, { from: revisionNumber(revision) + 1n, limit: 1 })) return true
    return false
  }

  /** A state at a revision that the stream is known to have reached. @throws WrongRevision while there is none to be had */
  const loadAt = async (
    id: string,
    batch: readonly Asked[],
    reached: ExpectedRevision,
  ): Promise<LoadedState<State>> => {
    const found = await load(id, batch)
    const { loaded } = found
    if (revisionNumber(loaded.revision) >= revisionNumber(reached)) return found
    const stream = streamName(kind, id)
    const last = await log.lastRevision(stream)
    const isReadable = revisionNumber(last) >= revisionNumber(reached)
    // What stands behind the state may be nothing that counts, the orphans of a crash: only a read up to there can tell.
    if (isReadable && !(await hasEventsAfter(stream, loaded.revision)))
      return { ...found, loaded: { ...loaded, revision: last } }
    throw new WrongRevision(stream, reached)
  }

  /** What was decided without appending anything holds if the stream has not moved. @throws WrongRevision when it has */
  const assertNewest = async (id: string, { revision }: Loaded<State>) => {
    const stream = streamName(kind, id)
    const last = await log.lastRevision(stream)
    if (last !== revision) throw new WrongRevision(stream, last)
  }

  /**
   * No event can get a position that had been passed before: a log that gives one has lost its end, and read models that
   * seem to show the event have seen another one there.
   */
  const assertPositionIsNew = (position: bigint, passed: bigint) => {
    if (position > passed) return
    models?.restart()
    throw new Unavailable('the log has lost its end', true)
  }

  const append = async (id: string, loaded: Loaded<State>, decided: DecidedBatch<State, Event>) => {
    if (decided.toAppend.length === 0) return decided.after
    cache.delete(id) // `evolve` has changed the state: nobody may load it until the append is answered
    if (!decided.isStateUnusable) inFlight.set(id, decided.after.state)
    try {
      const events = toNewEvents(kind, decided.toAppend)
      const passed = models?.position() ?? -1n
      const appended = await log.append(streamName(kind, id), loaded.revision, events)
      assertPositionIsNew(appended.position, passed)
      return { ...decided.after, ...appended }
    } finally {
      inFlight.delete(id)
    }
  }

  /** Decides and appends once; gives how many of the commands were answered, and the stream's revision after them. */
  const attempt = async (id: string, batch: readonly Asked[], reached: ExpectedRevision) => {
    const before = generation
    assertNotQuarantined(streamName(kind, id))
    const { loaded, isNewest } = await loadAt(id, batch, reached)
    if (generation !== before) throw new WrongRevision(streamName(kind, id), 'none')
    const decided = decideAll(kind, codec, loaded, batch, now)
    if (decided.isStateUnusable) cache.delete(id)
    if (decided.toAppend.length === 0 && !isNewest) await assertNewest(id, loaded)
    const after = await append(id, loaded, decided)
    if (!decided.isStateUnusable) remember(id, after)
    for (const [i, verdict] of decided.results.entries()) {
      if ('error' in verdict) batch[i]!.reject(verdict.error)
      else batch[i]!.resolve({ answer: verdict.answer, position: after.position })
    }
    return { answered: decided.results.length, revision: after.revision }
  }

  const reasonOf = (error: unknown) => {
    if (error instanceof LogUnavailable) return new Unavailable(error.message, error.stored, error)
    return error instanceof UnknownEvent ? new InQuarantine(kind.category) : error
  }

  const refuse = (batch: readonly Asked[], error: unknown) => {
    const reason = reasonOf(error)
    for (const waiting of batch) waiting.reject(reason)
  }

  /** After a conflict: the commands that may be decided again. */
  const withinDeadline = (batch: Asked[]) => {
    const isLate = ({ deadline }: Asked) => deadline <= performance.now()
    refuse(batch.filter(isLate), new Unavailable('too many writers at once'))
    return batch.filter((waiting) => !isLate(waiting))
  }

  /** Answers a batch; gives the error when the log is away. */
  const decideUntilAnswered = async (id: string, batch: Asked[]): Promise<LogUnavailable | undefined> => {
    let reached: ExpectedRevision = 'none'
    let open = batch
    while (open.length > 0) {
      try {
        const { answered, revision } = await attempt(id, open, reached)
        open = open.slice(answered)
        reached = revision
      } catch (error) {
        cache.delete(id)
        if (!(error instanceof WrongRevision)) {
          refuse(open, error)
          return error instanceof LogUnavailable ? error : undefined
        }
        // The same again: what has moved the stream cannot be seen yet.
        if (error.actual === reached) await pause(PAUSE_MS)
        reached = error.actual
        open = withinDeadline(open)
      }
    }
    return undefined
  }

  const drain = async (id: string, queue: Asked[]) => {
    while (queue.length > 0) {
      const away = await decideUntilAnswered(id, queue.splice(0, MAX_COMMANDS))
      // The log has not answered for seconds: who has waited behind that does not wait as long again.
      if (away) refuse(queue.splice(0), new Unavailable(away.message, false, away))
    }
    queues.delete(id)
    observed.delete(id)
  }

  const transact = <Answer>(id: string, command: Command<State, Event, Need, Answer>, context: Context) =>
    new Promise<TransactResult<Answer>>((resolve, reject) => {
      const deadline = performance.now() + deadlineMs
      const waiting = {
        command,
        context,
        deadline,
        resolve: resolve as (outcome: TransactResult<unknown>) => void,
        reject,
      }
      const queue = queues.get(id)
      if (queue) return queue.push(waiting)
      queues.set(id, [waiting])
      return drain(id, queues.get(id)!)
    })

  const observe = (stream: string, revision: bigint) => {
    const id = stream.slice(kind.category.length + 1)
    if (queues.has(id)) observed.set(id, revision)
    const known = cache.get(id)
    if (known && revisionNumber(known.revision) < revision) cache.delete(id)
  }

  const peek = (id: string) => inFlight.get(id) ?? (isCurrent() ? cache.get(id)?.state : undefined)

  const forget = () => {
    generation += 1
    cache.clear()
    for (const id of queues.keys()) observed.set(id, UNKNOWN_FUTURE)
  }

  return { transact, peek, observe, forget }
}
