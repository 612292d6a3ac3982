import { type EventLog, type Expected, LogUnavailable, WrongRevision, revisionNumber } from '../log/log.ts'
import type { Codec } from './codec.ts'
import { newMemory } from './memory.ts'
import { type Ask, type Command, type Context, type Decided, decideAll, stamp } from './decide.ts'
import { Unavailable } from './rejected.ts'
import { type DomainEvent, type Loaded, type StreamKind, streamOf } from './stream.ts'

/** Where states come from when memory has none: the log, or a read model at the revision that its rows stand for. */
export type Source<State, Need> = {
  /** The state with at least what `needs` name. `known` is what memory holds, to be completed at its revision. */
  load(id: string, needs: readonly Need[], known: Loaded<State> | undefined): Promise<Loaded<State>>
  /** Whether a state already has what a command needs. */
  covers?(state: State, need: Need): boolean
}

/** What a command led to, and the position that the read models must pass before it can be read. */
export type Outcome<Answer> = { readonly answer: Answer; readonly position: bigint }

export type TransactorOptions<State, Event extends DomainEvent, Need> = {
  readonly kind: StreamKind<State, Event>
  readonly source: Source<State, Need>
  readonly log: EventLog
  readonly codec: Codec
  /** The clock, in milliseconds. */
  readonly now: () => number
  readonly deadlineMs?: number
  /** How many streams stay in memory with their state, or what these may weigh in all. */
  readonly keep?: number
  /** Default 1 for each state. */
  readonly weigh?: (state: State) => number
  /** Makes a state small enough to be kept. */
  readonly trim?: (state: State) => State
}

export type Transactor<State, Event, Need = void> = {
  /**
   * Loads, decides, appends; on a conflict decides again until the deadline.
   * @throws Rejected when the decision refuses
   * @throws Unavailable when the log is away; `stored` says what is known
   */
  transact<Answer>(id: string, command: Command<State, Event, Need, Answer>, context: Context): Promise<Outcome<Answer>>
  /** The state that memory holds of a stream. A hint: an append under way may still fail. */
  peek(id: string): State | undefined
  /** Takes note of what has been appended, by whomever, so that no decision rests on a state that is gone. */
  observe(stream: string, revision: bigint): void
  forget(): void
}

type Waiting<State, Event, Need> = Ask<State, Event, Need> & {
  readonly deadline: number
  readonly resolve: (outcome: Outcome<unknown>) => void
  readonly reject: (error: unknown) => void
}

const MAX_COMMANDS = 256
const UNKNOWN_FUTURE = 2n ** 63n

/**
 * Commands of one stream queue here and are decided together: 50 writers to one trace cost a few appends, not 50
 * rounds of conflicts (architecture: Deciding).
 */
export const newTransactor = <State, Event extends DomainEvent, Need = void>(
  options: TransactorOptions<State, Event, Need>,
): Transactor<State, Event, Need> => {
  const { kind, source, log, codec, now, deadlineMs = 5_000, keep = 512, weigh = () => 1, trim } = options
  type Asked = Waiting<State, Event, Need>
  const queues = new Map<string, Asked[]>()
  const memory = newMemory<Loaded<State>>(keep, ({ state }) => weigh(state))
  const underWay = new Map<string, State>()
  const heard = new Map<string, bigint>() // of streams with a queue: the newest revision that was observed meanwhile

  const remember = (id: string, loaded: Loaded<State>) => {
    memory.delete(id)
    if (revisionNumber(loaded.revision) < (heard.get(id) ?? -1n)) return
    memory.set(id, trim ? { ...loaded, state: trim(loaded.state) } : loaded)
  }

  const load = async (id: string, batch: readonly Asked[]): Promise<Loaded<State>> => {
    const known = memory.get(id)
    const needs = batch.flatMap(({ command }) => (command.need === undefined ? [] : [command.need]))
    const missing = known ? needs.filter((need) => !source.covers?.(known.state, need)) : needs
    return known && missing.length === 0 ? known : source.load(id, missing, known)
  }

  /** What a stream holds beyond a revision may be nothing that counts: the orphans of a crash. */
  const onlyOrphansAfter = async (id: string, revision: Expected) => {
    for await (const _ of log.read(streamOf(kind, id), { from: revisionNumber(revision) + 1n, limit: 1 })) return false
    return true
  }

  const loadAt = async (id: string, batch: readonly Asked[], actual: Expected | undefined) => {
    const loaded = await load(id, batch)
    const behind = actual !== undefined && revisionNumber(loaded.revision) < revisionNumber(actual)
    if (!behind) return loaded
    if (await onlyOrphansAfter(id, loaded.revision)) return { ...loaded, revision: actual }
    await new Promise((resolve) => setTimeout(resolve, 5)) // a read model that has not seen the winner yet
    return loaded
  }

  const append = async (id: string, loaded: Loaded<State>, decided: Decided<State, Event>) => {
    if (decided.drafts.length === 0) return decided.after
    memory.delete(id) // `evolve` has changed the state: nobody may load it until the append is answered
    underWay.set(id, decided.after.state)
    try {
      const events = stamp(kind, decided.drafts)
      return { ...decided.after, ...(await log.append(streamOf(kind, id), loaded.revision, events)) }
    } finally {
      underWay.delete(id)
    }
  }

  /** Decides and appends once; returns how many of the commands were answered. */
  const attempt = async (id: string, batch: readonly Asked[], actual: Expected | undefined): Promise<number> => {
    const loaded = await loadAt(id, batch, actual)
    const decided = decideAll(kind, codec, loaded, batch, now)
    const after = await append(id, loaded, decided)
    remember(id, after)
    for (const [i, verdict] of decided.verdicts.entries()) {
      if ('error' in verdict) batch[i]!.reject(verdict.error)
      else batch[i]!.resolve({ answer: verdict.answer, position: after.position })
    }
    return decided.verdicts.length
  }

  const refuse = (batch: readonly Asked[], error: unknown) => {
    const reason = error instanceof LogUnavailable ? new Unavailable(error.message, error.stored, error) : error
    for (const waiting of batch) waiting.reject(reason)
  }

  /** Answers a batch; gives the error when the log is away. */
  const work = async (id: string, batch: Asked[]): Promise<LogUnavailable | undefined> => {
    let actual: Expected | undefined
    let open = batch
    while (open.length > 0) {
      try {
        open = open.slice(await attempt(id, open, actual))
        actual = undefined
      } catch (error) {
        memory.delete(id)
        if (!(error instanceof WrongRevision)) {
          refuse(open, error)
          return error instanceof LogUnavailable ? error : undefined
        }
        actual = error.actual
        const isLate = ({ deadline }: Asked) => deadline <= performance.now()
        refuse(open.filter(isLate), new Unavailable('too many writers at once'))
        open = open.filter((waiting) => !isLate(waiting))
      }
    }
    return undefined
  }

  const drain = async (id: string, queue: Asked[]) => {
    while (queue.length > 0) {
      const away = await work(id, queue.splice(0, MAX_COMMANDS))
      // The log has not answered for seconds: who has waited behind that does not wait as long again.
      if (away) refuse(queue.splice(0), new Unavailable(away.message, false, away))
    }
    queues.delete(id)
    heard.delete(id)
  }

  const transact = <Answer>(id: string, command: Command<State, Event, Need, Answer>, context: Context) =>
    new Promise<Outcome<Answer>>((resolve, reject) => {
      const deadline = performance.now() + deadlineMs
      const waiting = { command, context, deadline, resolve: resolve as (outcome: Outcome<unknown>) => void, reject }
      const queue = queues.get(id)
      if (queue) return queue.push(waiting)
      queues.set(id, [waiting])
      return drain(id, queues.get(id)!)
    })

  const observe = (stream: string, revision: bigint) => {
    const id = stream.slice(kind.category.length + 1)
    if (queues.has(id)) heard.set(id, revision)
    const known = memory.get(id)
    if (known && revisionNumber(known.revision) < revision) memory.delete(id)
  }

  const peek = (id: string) => underWay.get(id) ?? memory.get(id)?.state

  const forget = () => {
    memory.clear()
    for (const id of queues.keys()) heard.set(id, UNKNOWN_FUTURE)
  }

  return { transact, peek, observe, forget }
}
