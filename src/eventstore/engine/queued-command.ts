import { LogUnavailable, revisionNumber } from '../log/log.ts'
import { UnknownEvent } from './codec.ts'
import type { CommandResult, PendingCommand } from './decide.ts'
import { ExplainedUnavailable, InQuarantine, Rejected, Unavailable } from './rejected.ts'
import { type Loaded, shownRevision } from './stream.ts'

/** The answer of a command, and the position that read models must have reached to show its effect. */
export type TransactResult<Answer> = { readonly answer: Answer; readonly position: bigint }

/** A command in the queue of its stream. */
export type QueuedCommand<State, Event, Need> = PendingCommand<State, Event, Need> & {
  /** When it is refused as late, by `performance.now()`. */
  readonly deadline: number
  readonly resolve: (result: TransactResult<unknown>) => void
  readonly reject: (error: unknown) => void
}

type Waiting = Pick<QueuedCommand<never, never, never>, 'context' | 'deadline' | 'resolve' | 'reject'>

/** Answers a command with its result, and tells it the last event of the state after it; a refusal gets the position. */
export const conclude = (
  { context, resolve, reject }: Waiting,
  result: CommandResult,
  after: Omit<Loaded<unknown>, 'state'>,
): void => {
  const { position, anchor } = after
  if ('answer' in result) {
    if (anchor) context.noteLastEvent?.({ ...anchor, revision: revisionNumber(shownRevision(after)) })
    return resolve({ answer: result.answer, position })
  }
  if (result.error instanceof Rejected) result.error.position = position
  return reject(result.error)
}

const reasonOf = (error: unknown, category: string): unknown => {
  if (error instanceof LogUnavailable) return new Unavailable(error.message, error.stored, error)
  return error instanceof UnknownEvent ? new InQuarantine(category) : error
}

/** Refuses commands that could not be decided or appended. `category` is that of their streams. */
export const refuse = (commands: readonly Waiting[], error: unknown, category: string): void => {
  const reason = reasonOf(error, category)
  for (const { reject } of commands) reject(reason)
}

const BUSY = 'Too many writes to the same trace, namespace or user are waiting. Nothing was stored: try again later'

/** Refuses the commands whose deadline has passed, for this reason, and returns the others. */
export const refuseLate = <Queued extends Waiting>(commands: readonly Queued[], reason = BUSY): Queued[] => {
  const isLate = ({ deadline }: Waiting) => deadline <= performance.now()
  for (const { reject } of commands.filter(isLate)) reject(new ExplainedUnavailable(reason))
  return commands.filter((queued) => !isLate(queued))
}
