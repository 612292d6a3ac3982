import type { Command, Context } from './decide.ts'
import { Rejected, Unavailable } from './rejected.ts'
import type { DomainEvent } from './stream.ts'
import type { Transactor } from './transact.ts'

/** A command; without `answer` the write resolves to undefined. */
type WriteCommand<State, Event, Need, Answer, Result> = Omit<Command<State, Event, Need, Answer, Result>, 'answer'> &
  Partial<Pick<Command<State, Event, Need, Answer, Result>, 'answer'>>

/**
 * Runs a command for a client. Every write that a client waits for ends here: it is refused while the service accepts no writes,
 * otherwise decided and appended, and answered once the read models and caches of this node show its effect, or the reason of its
 * refusal. Processes, and the steps of a sign-up before the last one, call `transact` themselves.
 * @throws Rejected if the decision refuses
 * @throws Unavailable; `stored` says whether the events are in the log
 */
export type Write = <State, Event extends DomainEvent, Need = void, Answer = void, Result = void>(
  transactor: Pick<Transactor<State, Event, Need>, 'transact'>,
  id: string,
  command: WriteCommand<State, Event, Need, Answer, Result>,
  context: Context,
) => Promise<Answer>

type WriteOptions = {
  /** @throws Unavailable while the service accepts no writes */
  readonly assertWritable: () => void
  /** Resolves when the read models and caches of this node have reached a position. */
  readonly visible: (position: bigint) => Promise<void>
}

export const newWrite = ({ assertWritable, visible }: WriteOptions): Write => {
  /** Waits until the client can also read the reason of its refusal. @throws Unavailable with `stored: false` */
  const refusedVisibly = async (error: unknown): Promise<never> => {
    if (error instanceof Rejected && error.position !== undefined)
      await visible(error.position).catch((cause: unknown) => {
        throw cause instanceof Unavailable ? new Unavailable(cause.message, false, cause) : cause
      })
    throw error
  }

  return async (transactor, id, { answer, ...command }, context) => {
    assertWritable()
    const whole = { ...command, answer: answer ?? (() => undefined as never) }
    const result = await transactor.transact(id, whole, context).catch(refusedVisibly)
    await visible(result.position)
    return result.answer
  }
}
