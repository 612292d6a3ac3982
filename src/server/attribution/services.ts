import type { Reads } from '../../eventstore/engine/reads.ts'
import type { ReadTables } from '../../tables/main.ts'
import type { LineKeys } from './keys.ts'
import type { AttributionReads } from './reads.ts'

/** What questions need. */
export type AttributionServices = {
  readonly reads: Reads<ReadTables>
  readonly attributions: AttributionReads
  readonly lineKeys: LineKeys
  /** The clock, in milliseconds. */
  readonly now: () => number
}
