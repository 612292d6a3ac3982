import type { FoundSession, Session, SessionFields, StoredSession } from '../agents/agent.ts'
import type { RedactionOptions } from '../redaction/session.ts'
import type { Reporter } from '../report/events.ts'
import type { SyncState } from '../state/sync-state.ts'
import type { AsUploader } from '../state/uploader.ts'
import type { Destination, DestinationOf, Origin, PlaceIn } from './destination.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { Turn } from './turns.ts'
import type { NewSending } from './sending.ts'
import type { SessionReport } from './session-report.ts'

/** What is asked of a run. With `force` everything is uploaded again. */
export type Run = {
  readonly destinationOf: DestinationOf
  /** Where sessions go that were moved to another namespace. Without it these fail. */
  readonly placeIn?: PlaceIn
  /** Where sessions go without a rule: what earlier runs have left to do at its service is done at the end of this one. */
  readonly place?: Pick<Destination, 'connection' | 'states'> | undefined
  /** Leaves that to a later run. */
  readonly leavesDuties?: boolean
  /** The stored state of sources. */
  readonly origins: Pick<SyncState, 'originOf' | 'noteOrigin' | 'newLosses' | 'noteReported'>
  /** Sends what it sends as the only uploader of this machine. */
  readonly asUploader: AsUploader
  /** Takes secrets out; undefined if they are not taken out. */
  readonly redaction: RedactionOptions | undefined
  /** Keeps how sessions were read, so that only added lines are read the next time. Without it each session is read whole. */
  readonly live?: LiveSessions
  /** Adds fields of a trace that its agent has not stored. `at` is when the session was last written, in milliseconds, if that is known. */
  readonly completeTrace?:
    ((fields: SessionFields, at: number | undefined) => Promise<Pick<Session, 'trace' | 'standIns'>>) | undefined
  /** The trace of which `tracebook resume` has made a session; undefined for all others. */
  readonly resumedFrom?: ((agentId: string, sessionId: string) => Promise<string | undefined>) | undefined
  /** Asks whether held sessions may be sent; those are then tried once more. Undefined if nobody can be asked. */
  readonly askFor?: ((held: readonly HeldSession[]) => Promise<void>) | undefined
  readonly dryRun: boolean
  readonly force: boolean
  /** A line that cannot be read fails the run. */
  readonly strict?: boolean
  readonly report: Reporter
  /** Ends the run when it aborts: requests that are being sent are completed, and no others begin. */
  readonly signal?: AbortSignal | undefined
}

/** A session to which the user has to agree, and what decides where it goes. */
export type HeldSession = FoundSession & { readonly origin: Origin }

/** One session of a run: what is read of it, and what is counted and reported. */
export type SessionRun = FoundSession &
  SessionReport & {
    readonly turn: Turn
    readonly newSending: NewSending
    /** The sessions within its file, once it was read. */
    within?: readonly StoredSession[]
    /** Known once it was decided. */
    destination?: Destination
    /** Whether the past of its trace was to be erased, and could not be. */
    isErasureOwed?: boolean
  }
