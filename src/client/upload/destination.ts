import { resolve, sep } from 'node:path'
import { realPath } from '../agents/support/files.ts'
import type { Connection } from '../login/connect.ts'
import type { SessionStates } from '../state/session-states.ts'
import type { Visibility } from './upsert-trace.ts'

/** The destination of a session. */
export type Destination = {
  readonly connection: Connection
  /** What was sent to the namespace of the connection. */
  readonly states: SessionStates
  /** The visibility of its trace, new or not; undefined if none was asked for. */
  readonly visibility?: Visibility | undefined
  /** The visibility of a new trace, if none was asked for; default: private. */
  readonly visibilityOfNew?: Visibility | undefined
}

/** The data that decide the destination of a session. They are remembered, so that an unchanged session is not read again for them. */
export type Origin = {
  /** Its file; in a database the path, `#` and the session's id. */
  readonly source: string
  /** All its files; default: that of its source. */
  readonly files?: readonly string[]
  readonly agentId: string
  /** Undefined before it was read. */
  readonly sessionId?: string
  /** The folder that the agent worked in, as far as it stored one, with any secrets that are in its name. */
  readonly projectPath: string | undefined
  /** The folders in which its files were begun, where there are several. */
  readonly folders?: readonly string[]
}

/** A session that is not sent, and why: shown to the user. */
export type NotSent = { readonly notSent: string }

/** A session that is sent once the user agrees, and to what: shown to the user. */
export type Held = { readonly held: string }

/** A namespace by its slug: the connection to it, and what was sent there. Throws UsageError and RequestFailed. */
export type PlaceIn = (slug: string) => Promise<Pick<Destination, 'connection' | 'states'>>

/** Called for each session of a run, maybe twice. Throws UsageError and RequestFailed: the session fails then. */
export type DestinationOf = (origin: Origin) => Promise<Destination | NotSent | Held>

/** All sessions go to one place. */
export const always =
  (destination: Destination): DestinationOf =>
  async () =>
    destination

const realOr = (path: string): string => realPath(path) ?? resolve(path)

/** Sends only the sessions whose agent worked in `folder` or below it; all without a folder. */
export const onlyOf = (folder: string | undefined, destinationOf: DestinationOf): DestinationOf => {
  if (folder === undefined) return destinationOf
  const wanted = realOr(folder)
  return async (origin) => {
    const project = origin.projectPath === undefined ? undefined : realOr(origin.projectPath)
    const isWanted = project === wanted || project?.startsWith(wanted + sep) === true
    return isWanted ? destinationOf(origin) : { notSent: 'of another project' }
  }
}
