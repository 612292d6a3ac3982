import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { AttributionServices } from '../attribution/services.ts'
import type { Codec } from '../../eventstore/engine/codec.ts'
import type { ExportServices } from '../export/routes.ts'
import type { FeedServices } from '../feed/first-pages.ts'
import type { ErasePast } from '../history/erase-past.ts'
import type { MoveTrace } from '../history/move-trace.ts'
import type { BodyThreads } from '../http/parse-bodies.ts'
import type { NodePermits } from '../http/node-permits.ts'
import type { Readiness } from '../health/read-models.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import type { CatalogueProcess } from '../models/process.ts'
import type { AvatarServices } from '../namespace/services.ts'
import type { ProofServices } from '../proof/services.ts'
import type { RealtimeServices } from '../realtime/services.ts'
import type { SearchServices } from '../search/search.ts'
import type { SessionServices } from '../session/services.ts'
import type { Tokens } from '../session/tokens.ts'
import type { CodehostServices } from '../signin/services.ts'
import type { TraceServices } from '../trace/services.ts'
import type { UserServices } from '../user/services.ts'
import type { People } from '../web/people.ts'
import type { PublicPages } from '../web/public-pages.ts'
import type { RowMaking } from '../web/row-making.ts'

/** What the routes of all features need together. `AvatarServices` has what namespaces, members and invites need. */
type Features = SessionServices &
  UserServices &
  AvatarServices &
  TraceServices &
  FeedServices &
  ExportServices &
  SearchServices &
  AttributionServices &
  RealtimeServices &
  Pick<ProofServices, 'checkpoints'> & // `Service` has the others, with types of their own
  CodehostServices

/** The parts of a running service, wired once in `open.ts`. */
export type Service = Features & {
  readonly config: Config
  readonly logger: Logger
  /** Aborts when the log is another one than this service was opened with: from then on it answers nothing, and is opened again. */
  readonly over: AbortSignal
  /** The log as features read and write it. */
  readonly log: EventLog
  /** Turns stored records into events, of their newest schema version. */
  readonly codec: Codec
  /** Resolves when the read models and caches of this node have applied a position. @throws Unavailable */
  readonly visible: (position: bigint) => Promise<void>
  /** Memory and work of this node that clients share: bodies, reads, answers. */
  readonly permits: NodePermits
  /** The threads that parse large bodies. */
  readonly bodyThreads: BodyThreads
  /** The thread that makes rows of sessions for pages. */
  readonly rowMaking: RowMaking
  /** Finds the caller of a token. */
  readonly tokens: Tokens
  /** Pages for everybody, as they are sent. */
  readonly publicPages: PublicPages
  /** What the bars of pages show of users. */
  readonly people: People
  /** The process that refreshes the model registry from its catalogue. */
  readonly catalogue: CatalogueProcess
  /** Erases the past of traces. */
  readonly erasePast: ErasePast
  /** Moves traces to other namespaces. */
  readonly moveTrace: MoveTrace
  readonly readiness: () => Promise<Readiness>
}
