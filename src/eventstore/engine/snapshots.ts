import { REQUEST_WAIT_MS } from '../../base/waits.ts'
import { SqlState, hasSqlState } from '../postgres/sql-state.ts'
import type { OpenGroup } from './open-groups.ts'
import { type ReadRows, inSnapshot } from './in-snapshot.ts'
import { type ReadServer, openReads } from './reads.ts'
import { ExplainedUnavailable } from './rejected.ts'

/** How often work begins, if each time a table is replaced meanwhile. */
const TRIES = 3

/** A group of read models, read together with the main one. Every call may throw `Unavailable`, for example while it is being built. */
export type Snapshots = {
  /** Runs `work` in one snapshot of the group and the main read models. */
  snapshot<T>(work: (readRows: ReadRows) => Promise<T>): Promise<T>
  /** How far, in milliseconds, the group is behind the events that this node has seen. */
  behindMs(): number
  close(): Promise<void>
}

export type SnapshotsOptions = ReadServer & {
  /** Undefined if this service does not have the group. */
  readonly group: OpenGroup | undefined
  readonly mainSchema: string
  readonly size: number
}

type Naming = {
  /** The name of the connections. */
  readonly name: string
  /** What is said where the service does not have the group. */
  readonly missing: string
  /** SQL for settings of each transaction. */
  readonly settings?: string
}

/** Opens a small pool of connections for one group only, so that its queries delay no others. */
export const openSnapshots = (options: SnapshotsOptions, { name, missing, settings }: Naming): Snapshots => {
  const { group, mainSchema, size, ...server } = options
  if (!group)
    return {
      snapshot: async () => {
        throw new ExplainedUnavailable(missing)
      },
      behindMs: () => REQUEST_WAIT_MS,
      close: async () => {},
    }
  const { schema, quarantine, lag } = group
  const reads = openReads<object>({ ...server, schema, name, size, quarantine })
  const transactionSettings = [
    `set local search_path = ${schema}, ${mainSchema}`,
    ...(settings === undefined ? [] : [settings]),
  ]

  /** A table that this snapshot shows may be gone, because the group's upkeep or a rebuild has replaced it: the next snapshot shows the other one. */
  const again = async <T>(work: (readRows: ReadRows) => Promise<T>, tries = TRIES): Promise<T> => {
    try {
      return await inSnapshot(reads.pool, work, transactionSettings)
    } catch (error) {
      if (tries > 1 && hasSqlState(error, SqlState.undefinedTable)) return again(work, tries - 1)
      throw error
    }
  }

  const snapshot: Snapshots['snapshot'] = (work) => reads.query(() => again(work))

  return { snapshot, behindMs: lag.ms, close: reads.close }
}
