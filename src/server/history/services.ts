import type { ReadTables } from '../../tables/main.ts'
import type { Codec } from '../../eventstore/engine/codec.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { LongLists } from '../http/long-lists.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import type { ModelRegistry } from '../models/registry.ts'
import type { PastMemo } from './past-memo.ts'
import type { TimelineReads } from './timeline-reads.ts'

/** The parts of the service that answers about the past need. */
export type HistoryServices = {
  readonly reads: Reads<ReadTables>
  readonly timeline: TimelineReads
  readonly log: EventLog
  readonly codec: Codec
  /** The names of models. */
  readonly models: ModelRegistry
  readonly memo: PastMemo
  /** For answers too long to be sent at once. */
  readonly longLists: LongLists
}
