import { type Snapshots, type SnapshotsOptions, openSnapshots } from '../../eventstore/engine/snapshots.ts'
import { type CommonLines, newCommonLines } from './common-lines.ts'

/** What calls wrote, read together with the main read models, which say which of it counts. */
export type AttributionReads = Snapshots & { readonly commonLines: CommonLines }

/** An answer that takes longer is refused. */
export const MOST_MS = 2_000

/**
 * Opens a small pool of connections for questions only, so that they delay no other queries. PostgreSQL knows nothing of how often a hash occurs: it would
 * rather read a whole table than use the index.
 */
export const openAttributionReads = (options: SnapshotsOptions): AttributionReads => ({
  ...openSnapshots(options, {
    name: 'attribution',
    missing: 'This service runs without attribution: ask its operator for it',
    settings: `set local statement_timeout = ${MOST_MS}; set local enable_seqscan = off`,
  }),
  commonLines: newCommonLines(),
})
