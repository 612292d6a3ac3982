import type { HttpConfig } from '../http/settings.ts'
import type { FeedServices } from '../feed/first-pages.ts'
import type { Limits } from '../http/limits.ts'
import type { NodePermits } from '../http/node-permits.ts'
import type { Metrics } from '../http/metrics.ts'
import type { Tokens } from '../session/tokens.ts'
import type { LastUsedTimes } from '../session/last-used.ts'
import type { TraceServices } from '../trace/services.ts'
import type { Connections } from './connections.ts'
import type { LiveQueries } from './live-queries.ts'
import type { RealtimeSettings } from './settings.ts'

/** The parts of the service that realtime queries and their connections need. */
export type RealtimeServices = FeedServices &
  Pick<TraceServices, 'reads' | 'models'> & {
    readonly config: HttpConfig & RealtimeSettings
    readonly tokens: Pick<Tokens, 'find'>
    readonly lastUsed: Pick<LastUsedTimes, 'record'>
    readonly live: LiveQueries
    readonly permits: Pick<NodePermits, 'reads' | 'turns'>
    readonly connections: Connections
    /** Undefined if `RATE_LIMITS` is off. */
    readonly limits: Limits | undefined
    readonly metrics: Metrics
  }
