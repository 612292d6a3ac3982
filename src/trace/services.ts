import type { ReadTables } from '../../projections/index.ts'
import type { Reads } from '../engine/reads.ts'
import type { Transactor } from '../engine/transact.ts'
import type { Write } from '../engine/write.ts'
import type { Streams } from '../http/stream.ts'
import type { ModelRegistry } from '../models/registry.ts'
import type { Quotas } from '../namespace/quotas.ts'
import type { TraceNeed, TraceState } from './decide.ts'
import type { TraceEvent } from './events.ts'

/** What the routes of traces and their messages need. */
export type TraceServices = {
  readonly reads: Reads<ReadTables>
  readonly traces: Transactor<TraceState, TraceEvent, TraceNeed>
  readonly write: Write
  /** The names of models. */
  readonly models: ModelRegistry
  readonly quotas: Pick<Quotas, 'traces' | 'bytes'>
  /** For lists too long to be answered at once. */
  readonly streams: Streams
}
