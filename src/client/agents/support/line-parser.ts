import type { Session, SessionMessage } from '../agent.ts'
import type { Json } from './json.ts'
import type { ObjectLine } from './lines.ts'
import type { Parts, Sequence } from './sequence.ts'

/**
 * What a parser begins a reading with: the path of the session's first file, all files, and all lines of the session, to look ahead. `ahead`: in a second
 * reading, the state of the first reading after all lines.
 */
export type Start<State> = {
  readonly path: string
  readonly parts: Parts
  readonly lines: () => AsyncIterable<ObjectLine>
  readonly ahead: State | undefined
}

/**
 * How an agent's lines become a session: by a state that each line changes. All lines go through `step` twice. The first reading
 * collects what `describe` needs, and its messages are not used. The second one starts again, with the state of the first one as
 * `ahead`, and yields the messages. Lines that are added later go on from both states, first through `ahead`: a message that they make
 * longer is yielded again, as a whole.
 */
export type LineParser<State> = {
  /** How the records of several files of one session are put in order. */
  readonly sequence?: Sequence
  /** Whether a line has a form that the agent is known to write, whether it is a message or not. */
  readonly understands: (json: Json) => boolean
  /** What the second reading needs of a line, default all of it. `before` is what was kept of the line before. */
  readonly keep?: (line: ObjectLine, before: ObjectLine | undefined) => ObjectLine
  readonly start: (start: Start<State>) => State | Promise<State>
  /** Changes the state, and returns the messages that are complete with this line. */
  readonly step: (state: State, line: ObjectLine) => readonly SessionMessage[]
  /** The kinds of what a line holds that the parser does not know, and leaves out: the line's own, or those of its blocks. */
  readonly unknownIn?: (json: Json, state: State) => readonly unknown[]
  /** The id and the fields of the trace, and the sessions within its file, after all lines. The path is that of the first file that is there. */
  readonly describe: (state: State, path: string) => Described | Promise<Described>
  /**
   * Whether lines from number `added` on have changed what those before them mean, other than by making a message longer that is yielded again:
   * then the session is read whole. Default: none ever does.
   */
  readonly reachesBack?: (ahead: State, added: number) => boolean
}

export type Described = Pick<Session, 'externalId' | 'trace' | 'standIns' | 'within'>

/** What `step` returns for most lines. */
export const noMessages: readonly SessionMessage[] = []
