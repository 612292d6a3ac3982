import type { Command, Context } from './decide.ts'
import type { DomainEvent } from './stream.ts'
import type { Transactor } from './transact.ts'

/** A command whose answer may be left out: then the write has none. */
export type WriteCommand<State, Event, Need, Answer, Result> = Omit<
  Command<State, Event, Need, Answer, Result>,
  'answer'
> &
  Partial<Pick<Command<State, Event, Need, Answer, Result>, 'answer'>>

/**
 * The way of every write of a client: refused while writes must not be taken, decided, appended, and answered once this
 * node shows it to everybody.
 * @throws Rejected when the decision refuses
 * @throws Unavailable; `stored` says what is known of the write
 */
export type Write = <State, Event extends DomainEvent, Need = void, Answer = void, Result = void>(
  transactor: Pick<Transactor<State, Event, Need>, 'transact'>,
  id: string,
  command: WriteCommand<State, Event, Need, Answer, Result>,
  context: Context,
) => Promise<Answer>

export type WriteOptions = {
  /** @throws Unavailable while writes must not be taken */
  readonly assertWritable: () => void
  /** Resolves when this node shows everything up to a position. */
  readonly visible: (position: bigint) => Promise<void>
}

export const newWrite =
  ({ assertWritable, visible }: WriteOptions): Write =>
  async (transactor, id, { answer, ...command }, context) => {
    assertWritable()
    const outcome = await transactor.transact(id, { ...command, answer: answer ?? (() => undefined as never) }, context)
    await visible(outcome.position)
    return outcome.answer
  }
