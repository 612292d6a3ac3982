import type { Transactor } from '../../eventstore/engine/transact.ts'
import type { Write } from '../../eventstore/engine/write.ts'
import type { CommitState } from '../commit/decide.ts'
import type { CommitEvent } from '../commit/events.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { ReadTables } from '../../tables/main.ts'
import type { LineKeys } from './keys.ts'
import type { AttributionReads } from './reads.ts'

/** What questions need. */
export type AttributionServices = {
  readonly reads: Reads<ReadTables>
  readonly attributions: AttributionReads
  readonly lineKeys: LineKeys
  readonly commits: Transactor<CommitState, CommitEvent>
  readonly write: Write
  /** The clock, in milliseconds. */
  readonly now: () => number
}
