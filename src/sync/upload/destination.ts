import type { Connection } from '../login/connect.ts'
import type { SessionStates } from '../state/session-states.ts'
import type { Visibility } from './upsert-trace.ts'

/** Where a session goes. `visibility` only when one was asked for. */
export type Destination = {
  readonly connection: Connection
  /** What was sent to the namespace of the connection. */
  readonly states: SessionStates
  readonly visibility?: Visibility | undefined
}

/** What tells where a session goes. It is remembered, so that an unchanged session is not read again to learn it. */
export type Origin = {
  /** Its file; in a database the path, `#` and the session's id. */
  readonly source: string
  readonly agentId: string
  /** The folder that the agent worked in, as far as it stored one. */
  readonly projectPath: string | undefined
}

/** A session that is not sent, and why: shown to the user. */
export type NotSent = { readonly notSent: string }

/** Called for each session of a run, maybe twice. Throws UsageError and RequestFailed: the session fails then. */
export type DestinationOf = (origin: Origin) => Promise<Destination | NotSent>

/** All sessions go to one place. */
export const always =
  (destination: Destination): DestinationOf =>
  async () =>
    destination
