import type { Session, SessionMessage } from '../agent.ts'
import type { Json } from './json.ts'
import type { ObjectLine } from './lines.ts'

/** Thrown by a parser that has continued from a saved state, if a line changes what was read before, or refers to it. */
export class NeedsWhole extends Error {
  constructor() {
    super('a line changes what was read before, or refers to it')
  }
}

/** What a parser begins a reading with. */
export type Start<State, Saved> = {
  readonly path: string
  readonly size: number
  /** What was saved of the lines before the first one that is read now; undefined at the beginning of the file. */
  readonly saved: Saved | undefined
  /** In a second reading, the state of the first reading after all lines. */
  readonly ahead: State | undefined
}

/**
 * How an agent's lines become a session: by a state that each line changes. All lines go through `step` twice. The first reading
 * collects what `describe` needs, and its messages are not used. The second one starts again, with the state of the first one as
 * `ahead`, and yields the messages. `save` returns what later lines need of a state, as plain JSON, so that a later reading can
 * continue from there. The first reading from a saved state may throw NeedsWhole in `step`: then the session is read from its beginning.
 */
export type LineParser<State, Saved> = {
  /** The agent, its version, and the version of `Saved`. A state that was saved with another version is not used. */
  readonly version: string
  /** Whether a line has a form that the agent is known to write, whether it is a message or not. */
  readonly understands: (json: Json) => boolean
  /** What the second reading needs of a line, default all of it. `before` is what was kept of the line before. */
  readonly keep?: (line: ObjectLine, before: ObjectLine | undefined) => ObjectLine
  readonly start: (start: Start<State, Saved>) => State | Promise<State>
  /** Changes the state, and returns the messages that are complete with this line. */
  readonly step: (state: State, line: ObjectLine) => readonly SessionMessage[]
  /** The id and the fields of the trace, after all lines. */
  readonly describe: (state: State, path: string) => Described | Promise<Described>
  /** After all lines: the first line of a message that may still grow. A later reading begins there. */
  readonly firstOpenLine?: (state: State) => number | undefined
  /** A copy, which later lines do not change; undefined if a reading cannot continue from this state. */
  readonly save: (state: State) => Saved | undefined
}

export type Described = Pick<Session, 'externalId' | 'trace'>

/** What `step` returns for most lines. */
export const noMessages: readonly SessionMessage[] = []
