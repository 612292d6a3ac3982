import { type EventLog, type ExpectedRevision, LogUnavailable, WrongRevision } from '../log/log.ts'
import { actAs, currentClient } from '../../base/current-client.ts'
import type { Client } from '../../base/permits.ts'
import { REQUEST_WAIT_MS, pause } from '../../base/waits.ts'
import type { Codec } from './codec.ts'
import { type Command, type Context, type DecidedBatch, decideAll, toNewEvents } from './decide.ts'
import { type LoadedState, type StateSource, newStateLoader } from './load-state.ts'
import { type QueuedCommand, type TransactResult, conclude, refuse, refuseLate } from './queued-command.ts'
import { Unavailable } from './rejected.ts'
import { newStateCache } from './state-cache.ts'
import { type DomainEvent, type StreamKind, streamName } from './stream.ts'
import type { Watermark } from './watermark.ts'

export type TransactorOptions<State, Event extends DomainEvent, Need> = {
  readonly kind: StreamKind<State, Event>
  readonly source: StateSource<State, Need>
  readonly log: EventLog
  readonly codec: Codec
  /** The clock, in milliseconds. */
  readonly now: () => number
  /** False while this node does not follow the log: then no state in memory is used. Default: always true. */
  readonly isCurrent?: () => boolean
  /** The position of the read models. Default: positions that the log uses a second time are not noticed. */
  readonly watermark?: Pick<Watermark, 'position'>
  /** How long a command may be tried again after conflicts, in milliseconds. Default: as long as a request waits. */
  readonly deadlineMs?: number
  /** How many bytes all states in memory may take. Default: 2 MiB. */
  readonly budget?: number
  /** @throws InQuarantine if the stream is in quarantine. Default: none is. */
  readonly assertNotQuarantined?: (stream: string) => void
  /** Makes a state small enough to be cached. Default: states are cached whole. */
  readonly trim?: (state: State) => State
}

export type Transactor<State, Event extends DomainEvent, Need = void> = {
  /**
   * Loads the state, decides, and appends the events at the state's revision. After a conflict it decides again, until the
   * deadline. A command that is refused or has no events was also decided on a state that was the stream's newest at some
   * time after the call.
   * @throws Rejected if the decision refuses, with the position that read models must have reached to show why
   * @throws Unavailable if the log cannot be reached or the deadline has passed; `stored` says whether the events are in the log
   */
  transact<Answer, Result = void>(
    id: string,
    command: Command<State, Event, Need, Answer, Result>,
    context: Context,
  ): Promise<TransactResult<Answer>>
  /**
   * Returns what `look` computes from the stream's state, which was the newest at some time after the call. It waits in the queue of
   * the stream's commands, and must not keep the state, because later events may change it. `now` is the clock, in milliseconds.
   * @throws errors of `look`, and Unavailable if the log cannot be reached or the deadline has passed
   */
  read<Answer>(id: string, look: (state: State, now: number) => Answer): Promise<Answer>
  /**
   * Runs work that appends to a stream by itself, in the queue of the stream's commands. Later commands wait; at their deadlines they are refused
   * with the message `busy`. Afterwards the state of the stream is not in memory. @throws errors of `work`, and InQuarantine
   */
  exclusively<Answer>(id: string, busy: string, work: () => Promise<Answer>): Promise<Answer>
  /** The state in memory, if there is one: the newest in the log at some time, without commands that are under way. */
  peek(id: string): State | undefined
  /** Notes an event that any process has appended, so that no decision uses an older state. */
  observe(stream: string, revision: bigint): void
  /** Drops all states in memory. */
  clear(): void
}

/** The most commands that are decided together. */
const MAX_COMMANDS = 256
/** How long to wait after a conflict whose events the source of states does not show yet. */
const PAUSE_MS = 5
/** How often commands that wait for the work of `exclusively` are checked against their deadlines. */
const CHECK_MS = 250

type InQueue = {
  readonly command: { readonly checkRevision?: unknown }
  readonly work?: unknown
}

const isAlone = ({ command, work }: InQueue) => command.checkRevision !== undefined || work !== undefined

/** How many commands of a queue are decided and appended together. A command with `checkRevision`, and the work of `exclusively`, are handled alone. */
const togetherCount = (queue: readonly InQueue[]): number => {
  const alone = queue.slice(0, MAX_COMMANDS).findIndex(isAlone)
  return alone < 0 ? MAX_COMMANDS : Math.max(alone, 1)
}

/**
 * Runs commands on one kind of stream. Commands for one stream queue up and are decided together: 50 concurrent writers to one trace
 * then cost a few appends, not 50 rounds of conflicts.
 */
export const newTransactor = <State, Event extends DomainEvent, Need = void>(
  options: TransactorOptions<State, Event, Need>,
): Transactor<State, Event, Need> => {
  const { kind, source, log, codec, now, isCurrent = () => true, watermark, deadlineMs = REQUEST_WAIT_MS } = options
  const { budget = 2 * 1024 * 1024, trim, assertNotQuarantined = () => {} } = options
  type Queued = QueuedCommand<State, Event, Need> & {
    /** A batch waits for the database in the line of its first client. */
    readonly client: Client
    readonly work?: (behind: Queued[]) => Promise<void>
  }
  const queues = new Map<string, Queued[]>()
  const cache = newStateCache<State>({ sizeOf: kind.sizeOf, budget, trim, isCurrent })
  const { loadAt, assertNewest } = newStateLoader({ kind, source, log, cache })

  /**
   * A log that uses a position a second time has lost its end: read models that have reached the position have applied another
   * event there, and do not show the new one. So another epoch begins, in which they are compared with it.
   */
  const assertPositionIsNew = async (position: bigint, watermarkBefore: bigint) => {
    if (position > watermarkBefore) return
    const renew = async () => log.renewEpoch((await log.identity()).epoch)
    await renew().catch(() => {}) // what was stored stays so
    throw new Unavailable('the log has lost its end', true)
  }

  /** Appends the decided events. If there are none, checks that the state is the newest. */
  const settle = async (id: string, { loaded, isNewest }: LoadedState<State>, decided: DecidedBatch<State, Event>) => {
    if (decided.toAppend.length === 0)
      return isNewest ? decided.after : { ...decided.after, anchor: await assertNewest(id, loaded) }
    const events = toNewEvents(kind, decided.toAppend)
    const watermarkBefore = watermark?.position() ?? -1n
    const appended = await log.append(streamName(kind, id), loaded.revision, events)
    await assertPositionIsNew(appended.position, watermarkBefore)
    const anchor = { position: appended.position, id: events.at(-1)!.id }
    return { ...decided.after, ...appended, shown: undefined, anchor }
  }

  /**
   * Decides and appends once. Returns how many of the commands were answered, and the stream's revision after them.
   * @throws WrongRevision after a conflict; nothing was answered then, and the caller drops the state in memory
   */
  const attempt = async (id: string, batch: readonly Queued[], atLeast: ExpectedRevision) => {
    // 1. Load the state, from memory if it has all that the commands need.
    const generation = cache.generation()
    assertNotQuarantined(streamName(kind, id))
    const needs = batch.flatMap(({ command }) => (command.need === undefined ? [] : [command.need]))
    const found = await loadAt(id, needs, atLeast)
    // The cache was cleared while the state was loaded, so the state may be outdated: it is loaded again, as after a conflict.
    if (cache.generation() !== generation) throw new WrongRevision(streamName(kind, id), 'none')
    // 2. Decide the commands one after the other, on a draft: the state in memory stays as it is until step 4.
    const decided = decideAll(kind, codec, found.loaded, batch, now)
    // 3. Append the events at the state's revision. If there are none, check that the state is the newest.
    const after = await settle(id, found, decided)
    // 4. Keep the draft as the state in memory.
    cache.set(id, { ...after, state: kind.commit?.(after.state) ?? after.state })
    // 5. Answer the commands.
    for (const [i, result] of decided.results.entries()) conclude(batch[i]!, result, after)
    return { answered: decided.results.length, revision: after.revision }
  }

  /** Answers all commands of a batch. Returns the error if the log cannot be reached. */
  const answerAll = async (id: string, batch: Queued[]): Promise<LogUnavailable | undefined> => {
    let atLeast: ExpectedRevision = 'none'
    let unanswered = batch
    while (unanswered.length > 0) {
      try {
        const { answered, revision } = await attempt(id, unanswered, atLeast)
        unanswered = unanswered.slice(answered)
        atLeast = revision
      } catch (error) {
        cache.delete(id)
        if (!(error instanceof WrongRevision)) {
          refuse(unanswered, error, kind.category)
          return error instanceof LogUnavailable ? error : undefined
        }
        // The same conflict again: the source does not show the other writer's events yet.
        if (error.actual === atLeast) await pause(PAUSE_MS)
        atLeast = error.actual
        unanswered = refuseLate(unanswered)
      }
    }
    return undefined
  }

  const drain = async (id: string, queue: Queued[]) => {
    while (queue.length > 0) {
      const batch = queue.splice(0, togetherCount(queue))
      if (batch[0]!.work) {
        cache.delete(id)
        await actAs(batch[0]!.client, () => batch[0]!.work!(queue))
        cache.delete(id)
        continue
      }
      const unreachable = await actAs(batch[0]!.client, () => answerAll(id, batch))
      // The commands behind this batch have waited as long as it took to notice that the log cannot be reached.
      if (unreachable) refuse(queue.splice(0), new Unavailable(unreachable.message, false, unreachable), kind.category)
    }
    queues.delete(id)
    cache.untrack(id)
  }

  const enqueue = (id: string, queued: Queued) => {
    const queue = queues.get(id)
    if (queue) return void queue.push(queued)
    queues.set(id, [queued])
    cache.track(id)
    void drain(id, queues.get(id)!)
  }

  const transact = <Answer, Result>(
    id: string,
    command: Command<State, Event, Need, Answer, Result>,
    context: Context,
  ) =>
    new Promise<TransactResult<Answer>>((resolve, reject) => {
      const deadline = performance.now() + deadlineMs
      const queued: Queued = {
        command: command as Queued['command'], // `answer` gets the result of its own `decide`
        context,
        client: currentClient(),
        deadline,
        resolve: resolve as Queued['resolve'],
        reject,
      }
      enqueue(id, queued)
    })

  const exclusively = <Answer>(id: string, busy: string, work: () => Promise<Answer>) =>
    new Promise<Answer>((resolve, reject) => {
      const guarded = async (behind: Queued[]) => {
        assertNotQuarantined(streamName(kind, id))
        const looking = setInterval(() => behind.splice(0, Infinity, ...refuseLate(behind, busy)), CHECK_MS)
        resolve(await work().finally(() => clearInterval(looking)))
      }
      const command = { decide: () => [], answer: () => undefined }
      const queued = { command, context: {}, deadline: Infinity, resolve: () => {}, reject }
      enqueue(id, { ...queued, client: currentClient(), work: (behind) => guarded(behind).catch(reject) })
    })

  const read = async <Answer>(id: string, look: (state: State, now: number) => Answer): Promise<Answer> => {
    const decide = (state: State, now: number) => ({ events: [], result: look(state, now) })
    return (await transact(id, { decide, answer: (_, events, found) => found }, {})).answer
  }

  const observe = (stream: string, revision: bigint) => cache.observe(stream.slice(kind.category.length + 1), revision)

  const peek = (id: string) => cache.get(id)?.state

  return { transact, read, exclusively, peek, observe, clear: cache.clear }
}
