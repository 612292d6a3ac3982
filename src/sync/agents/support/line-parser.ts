import type { Session, SessionMessage } from '../agent.ts'
import type { Json } from './json.ts'
import type { ObjectLine } from './lines.ts'

/** Thrown by a parser that went on from a saved state, for a line that changes what was read before, or refers to it. */
export class NeedsWhole extends Error {
  constructor() {
    super('a line changes what was read before, or refers to it')
  }
}

/** Where a reading begins. */
export type Start<State, Saved> = {
  readonly path: string
  readonly size: number
  /** What was saved before the first line that is read now; undefined at the beginning of the file. */
  readonly saved: Saved | undefined
  /** In a second reading, the state after all lines, from the first one. */
  readonly ahead: State | undefined
}

/**
 * How an agent's lines become a session: a state that each line changes. The lines are read twice, by `step` both times: the first
 * reading collects what `describe` tells of the session, and its messages are not used; the second one starts anew, with the
 * state of the first one as `ahead`, and yields them. `save` says of a state what the lines after it need, as plain JSON, so that
 * a later reading begins there; such a reading may throw NeedsWhole in any `step` of its first pass, and starts over.
 */
export type LineParser<State, Saved> = {
  /** The agent and its version, and that of what is saved: what another one saved is not used. */
  readonly version: string
  /** Whether a line has a form that the agent is known to write, be it a message or not. */
  readonly understands: (json: Json) => boolean
  readonly start: (start: Start<State, Saved>) => State | Promise<State>
  /** Changes the state, and gives the messages that are complete with this line. */
  readonly step: (state: State, line: ObjectLine) => readonly SessionMessage[]
  /** The trace's id and fields, after all lines. */
  readonly describe: (state: State, path: string) => Described | Promise<Described>
  /** The first line of a message that may still grow, after all lines: a later reading begins there. */
  readonly firstOpenLine?: (state: State) => number | undefined
  /** A copy, which later lines do not change. Undefined for a state that cannot be gone on from. */
  readonly save: (state: State) => Saved | undefined
}

export type Described = Pick<Session, 'externalId' | 'trace'>

/** What `step` gives for most lines. */
export const noMessages: readonly SessionMessage[] = []
