import type { ReadTables } from '../projections/index.ts'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Codec } from './engine/codec.ts'
import type { Reads } from './engine/reads.ts'
import type { Transactor } from './engine/transact.ts'
import type { Write } from './engine/write.ts'
import type { FeedCache } from './feed/cache.ts'
import type { BodyThreads } from './http/body-thread.ts'
import type { Readiness } from './http/health.ts'
import type { Limits } from './http/limits.ts'
import type { Streams } from './http/stream.ts'
import type { EventLog } from './log/log.ts'
import type { Metrics } from './metrics.ts'
import type { CatalogueProcess } from './models/process.ts'
import type { ModelRegistry } from './models/registry.ts'
import type { AvatarStore } from './namespace/avatar-store.ts'
import type { Namespace } from './namespace/decide.ts'
import type { NamespaceEvent } from './namespace/events.ts'
import type { Quotas } from './namespace/quotas.ts'
import type { Session } from './session/decide.ts'
import type { SessionEvent } from './session/events.ts'
import type { Tokens } from './session/tokens.ts'
import type { LastUsedTimes } from './session/last-used.ts'
import type { Handshakes } from './signin/handshakes.ts'
import type { Trace, TraceNeed } from './trace/decide.ts'
import type { TraceEvent } from './trace/events.ts'
import type { Identity, User } from './user/decide.ts'
import type { IdentityEvent, UserEvent } from './user/events.ts'

/** Everything that routes may touch, wired once in `open-service.ts`. */
export type Service = {
  readonly config: Config
  /** The clock, in milliseconds. */
  readonly now: () => number
  readonly logger: Logger
  readonly metrics: Metrics
  readonly log: EventLog
  /** What clients are told of the log: another text when it is another one, or has lost its end. */
  readonly logId: () => string | undefined
  readonly codec: Codec
  readonly reads: Reads<ReadTables>
  /** For answers too long to be made at once. */
  readonly streams: Streams
  readonly users: Transactor<User, UserEvent>
  readonly identities: Transactor<Identity, IdentityEvent>
  readonly sessions: Transactor<Session, SessionEvent>
  readonly namespaces: Transactor<Namespace, NamespaceEvent>
  readonly traces: Transactor<Trace, TraceEvent, TraceNeed>
  /** Resolves when the read models and caches of this node show everything up to a position. */
  readonly visible: (position: bigint) => Promise<void>
  /** How clients' writes go, whatever they write to. */
  readonly write: Write
  /** @throws Unavailable while writes must not be taken: projections stopped or far behind, or the disk nearly full */
  readonly assertWritable: () => void
  /** Where large bodies are read. */
  readonly bodyThreads: BodyThreads
  /** Who a token stands for. */
  readonly tokens: Tokens
  /** When sessions were last used, written behind. */
  readonly lastUsed: LastUsedTimes
  readonly feedCache: FeedCache
  /** What agents' names of models stand for. */
  readonly models: ModelRegistry
  /** Where the model registry is filled from. */
  readonly catalogue: CatalogueProcess
  /** Undefined when `RATE_LIMITS` is off. */
  readonly limits: Limits | undefined
  /** Sign-ins with the code host that are under way. */
  readonly handshakes: Handshakes
  /** The bytes of avatars. */
  readonly avatars: AvatarStore
  /** What namespaces may hold. */
  readonly quotas: Quotas
  readonly readiness: () => Promise<Readiness>
}
