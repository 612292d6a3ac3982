import { freeBytes } from '../../eventstore/embedded/disk.ts'
import type { OpenGroup } from '../../eventstore/engine/open-groups.ts'
import type { OpenGroups } from '../../eventstore/engine/open-groups.ts'
import type { NodePermits } from '../http/node-permits.ts'
import type { Metrics } from '../http/metrics.ts'
import type { FairPool } from '../../eventstore/postgres/fair-pool.ts'
import type { TreeProcess } from '../proof/process.ts'
import type { Connections } from '../realtime/connections.ts'
import type { LiveQueries } from '../realtime/live-queries.ts'

/** Gauges with a value for each group of read models. */
const measureGroups = (metrics: Metrics, { all }: OpenGroups, lastSeen: () => bigint): void => {
  const gauge = (name: string, help: string, value: (open: OpenGroup) => number) =>
    metrics.gauges(name, help, 'group', () => all.map((open) => [open.group.name, value(open)]))
  gauge('tracebook_projection_lag_events', 'Events that the read models have not applied', ({ watermark }) =>
    Math.max(0, Number(lastSeen() - watermark.position())),
  )
  gauge('tracebook_projection_lag_seconds', 'How long the read models have been behind', ({ lag }) => lag.ms() / 1_000)
  gauge('tracebook_projection_stopped', '1 when projections have stopped after too many failures', (open) =>
    open.state()?.is === 'stopped' ? 1 : 0,
  )
  gauge(
    'tracebook_quarantined_streams',
    'Streams in quarantine, with an event that could not be applied',
    ({ quarantine }) => quarantine.list().length,
  )
}

/** Installs the gauges of read models and of the pool for reads. They are measured when metrics are requested. */
export const installGauges = (metrics: Metrics, groups: OpenGroups, lastSeen: () => bigint, reads: FairPool): void => {
  measureGroups(metrics, groups, lastSeen)
  metrics.gauge('tracebook_pool_connections', 'Connections of the pool for reads', () => reads.totalCount)
  metrics.gauge('tracebook_pool_idle', 'Idle connections of the pool for reads', () => reads.idleCount)
  metrics.gauge('tracebook_pool_waiting', 'Queries that wait for a connection', () => reads.permits.waiting())
}

/** Installs the gauges of the audit tree, on a process that may write it. */
export const installProofGauges = (metrics: Metrics, proof: TreeProcess | undefined): void => {
  if (!proof) return
  metrics.gauge('tracebook_audit_leaves', 'Leaves of the audit tree; 0 while another process writes them', proof.leaves)
  metrics.gauge('tracebook_audit_refused', '1 when the audit tree was tampered with and is not continued', () =>
    Number(proof.isRefused()),
  )
}

/** Installs the gauges of realtime queries. */
export const installRealtimeGauges = (metrics: Metrics, connections: Connections, live: LiveQueries): void => {
  metrics.gauge('tracebook_realtime_connections', 'Open WebSockets', () => connections.counts().connections)
  metrics.gauge(
    'tracebook_realtime_subscriptions',
    'Subscriptions over all WebSockets',
    () => connections.counts().subscriptions,
  )
  metrics.gauge('tracebook_realtime_queries', 'Different queries with subscriptions', () => live.counts().queries)
  metrics.gauge('tracebook_realtime_kept', 'Characters of cached answers', () => live.counts().kept)
}

/** Installs the gauges of the resources that clients share. */
export const installPermitGauges = (
  metrics: Metrics,
  { turns: _turns, close: _close, ...kinds }: NodePermits,
): void => {
  const all = Object.entries(kinds)
  metrics.gauges('tracebook_held', 'Shared resources in use: bytes, reads or connections', 'kind', () =>
    all.map(([kind, permits]) => [kind, permits.held()]),
  )
  metrics.gauges('tracebook_waiting', 'Requests that wait for a shared resource', 'kind', () =>
    all.map(([kind, permits]) => [kind, permits.waiting()]),
  )
}

/** Installs the gauge of the free space on the disk of an embedded database. */
export const installDiskGauge = (metrics: Metrics, dataDir: string): void => {
  metrics.gauge('tracebook_disk_free_bytes', 'Bytes that can still be written below DATA_DIR', () => freeBytes(dataDir))
}
