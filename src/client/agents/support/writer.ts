import type { Part, SessionMessage } from '../agent.ts'
import type { Tally } from './tally.ts'

/** A session that is written anew. */
export type WrittenSession = {
  /** Its new id, as the agent makes them. */
  readonly id: string
  /** The real path of the folder in which it goes on, and what is checked out there. */
  readonly directory: string
  readonly branch?: string | undefined
  readonly commit?: string | undefined
  /** The version of the agent's program. */
  readonly version: string
  /** The provider of models that the program is set up for, where its files name one. */
  readonly provider?: string | undefined
  /** When it is written, in milliseconds. */
  readonly at: number
  /** The model of most answers. */
  readonly model?: string | undefined
  /** Whether it is a session of the same agent. */
  readonly isOwn: boolean
}

/** Lines of a file, without their ends, and what the agent's parser will read in them. */
export type Written = {
  readonly lines: readonly string[]
  readonly said: {
    readonly role: SessionMessage['role']
    readonly model?: string | undefined
    readonly parts: readonly Part[]
  }
}

/** Writes a session for an agent: messages in list order in, lines out. Pure. What is left out and put in is counted. */
export type WriteSession = (
  session: WrittenSession,
  messages: AsyncIterable<SessionMessage> | Iterable<SessionMessage>,
  tally: Tally,
) => AsyncGenerator<Written>

/** The end of the year 9999, beyond which RFC 3339 has no times. */
const END = 253_402_300_800_000

const isTime = (time: unknown): time is number => typeof time === 'number' && time >= 0 && time < END

/** The times of messages in RFC 3339; of one without a time that of the message before. */
export const newTimes = ({ at }: WrittenSession) => {
  let last = at
  return ({ timestamp }: Pick<SessionMessage, 'timestamp'>): string => {
    last = isTime(timestamp) ? timestamp : last
    return new Date(last).toISOString()
  }
}
