import type { TimelineTables } from '../../tables/timeline.ts'
import { type Row, openReads } from '../../eventstore/engine/reads.ts'
import { ExplainedUnavailable } from '../../eventstore/engine/rejected.ts'
import type { SnapshotsOptions } from '../../eventstore/engine/snapshots.ts'
import { REQUEST_WAIT_MS } from '../../base/waits.ts'

/** Queries over the timeline. Every call may throw `Unavailable`, for example while the timeline is being built. */
export type TimelineReads = {
  /** Runs a prepared statement over the timeline's tables. A name must always have the same text. */
  rows<T extends Row>(name: string, text: string, values: readonly unknown[]): Promise<T[]>
  /** The schema of the main read models in the same database, which statements may join. */
  readonly mainSchema: string
  /**
   * Resolves when the timeline shows everything that this node has seen, and everything up to the position.
   * @throws Unavailable if that takes too long
   */
  caughtUp(position: bigint): Promise<void>
  /** @throws InQuarantine if one of these streams is in quarantine, so that its rows may be wrong */
  assertNotQuarantined(...streams: string[]): void
  close(): Promise<void>
}

const withoutTimeline = (mainSchema: string): TimelineReads => {
  const refuse = () => {
    throw new ExplainedUnavailable('This service runs without a timeline: ask its operator for one')
  }
  return {
    mainSchema,
    rows: async () => refuse(),
    caughtUp: async () => refuse(),
    assertNotQuarantined: refuse,
    close: async () => {},
  }
}

/** Opens a small pool of connections for the timeline only, so that long queries about the past delay no other queries. */
export const openTimelineReads = (options: SnapshotsOptions): TimelineReads => {
  const { group, mainSchema, size, ...server } = options
  if (!group) return withoutTimeline(mainSchema)
  const { schema, quarantine, watermark } = group
  const reads = openReads<TimelineTables>({ ...server, schema, name: 'timeline', size, quarantine })
  const caughtUp = (position: bigint) => {
    const seen = server.lastSeen()
    return watermark.waitFor(position > seen ? position : seen, REQUEST_WAIT_MS, false)
  }
  const { rows, assertNotQuarantined, close } = reads
  return { rows, mainSchema, caughtUp, assertNotQuarantined, close }
}
