import type pg from 'pg'
import type { Logger } from 'pino'
import type { ReadTables } from '../../tables/main.ts'
import type { Config } from '../config.ts'
import type { Codec } from '../../eventstore/engine/codec.ts'
import type { OpenGroups } from '../../eventstore/engine/open-groups.ts'
import type { OutageLog } from '../../eventstore/engine/outage.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { Watermark } from '../../eventstore/engine/watermark.ts'
import { countDue } from '../erasure/pending-erasures.ts'
import { startErasure } from '../erasure/process.ts'
import type { Wakeup } from '../../base/waits.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import type { Filling } from '../models/fill.ts'
import { type CatalogueProcess, startCatalogueProcess } from '../models/process.ts'
import { newRefresh } from '../models/refresh.ts'
import type { PoolSizes } from '../../eventstore/postgres/pool-sizes.ts'
import { newClockCheck } from '../../eventstore/postgres/clock-check.ts'
import { newExpiringTraces } from '../retention/expiring-traces.ts'
import { withdrawStale } from '../history/withdraw-stale.ts'
import { startRetention } from '../retention/process.ts'
import type { Signer } from '../proof/note.ts'
import { type Signed, type TreeProcess, startTreeProcess } from '../proof/process.ts'
import { isCovered } from '../proof/resume.ts'
import { startSummaries } from '../summary/process.ts'
import type { Transactors } from './transactors.ts'

type ProcessesOptions = {
  readonly config: Config
  readonly databaseUrl: string
  readonly sizes: PoolSizes
  readonly log: EventLog
  readonly codec: Codec
  readonly groups: OpenGroups
  readonly reads: Reads<ReadTables>
  readonly operations: pg.Pool
  readonly transactors: Transactors
  /** The ids of the providers that the model registry has, according to the whole log. @throws Unavailable, LogUnavailable */
  readonly presentProviders: () => Promise<readonly string[]>
  /** The filling of an empty model registry. */
  readonly filling: Filling
  readonly assertWritable: () => void
  /** The last position that this node has seen. */
  readonly lastSeen: Pick<Watermark, 'position'>
  /** Woken when the retention of a namespace has changed. */
  readonly retentionWakeup: Wakeup
  /** The key that signs checkpoints; undefined when there is none. */
  readonly auditSigner: Signer | undefined
  /** What this node has signed. */
  readonly signed: Signed
  readonly outage: OutageLog
  /** The clock, in milliseconds. */
  readonly now: () => number
  readonly logger: Logger
}

type Processes = {
  /** Refreshes the model registry: on request on every node, by schedule on workers only. */
  readonly catalogue: CatalogueProcess
  /** Writes the leaves of the audit tree. Only on workers. */
  readonly proof?: TreeProcess
  close(): Promise<void>
}

/** How long retention waits for read models that are behind, before it starts again. */
const CAUGHT_UP_MS = 5_000

const startRetentionProcess = (options: ProcessesOptions) => {
  const { databaseUrl: url, groups, reads, operations: pool, transactors, lastSeen } = options
  const { assertWritable, retentionWakeup: wakeup, outage, now, logger } = options
  const { watermark } = groups.main
  const { namespaces, traces } = transactors.forClients
  return startRetention({
    url,
    reads,
    namespaces,
    traces,
    withdrawStale: () => withdrawStale({ reads, traces, assertWritable, now }),
    expiring: newExpiringTraces(pool),
    caughtUp: (position = lastSeen.position()) => watermark.waitFor(position, CAUGHT_UP_MS),
    pendingErasures: () => countDue(pool),
    clockProblem: newClockCheck({ pool, now }).problem,
    wakeup,
    assertWritable,
    now,
    outage,
    logger,
  })
}

/** Starts the processes of the role `worker`: erasure, retention, summaries, the audit tree, and the refresh of the model registry. */
export const startProcesses = (options: ProcessesOptions): Processes => {
  const { config, databaseUrl: url, sizes, log, codec, groups, reads, operations: pool, transactors } = options
  const { presentProviders, filling, assertWritable, auditSigner: signer, signed, outage, now, logger } = options
  const isWorker = config.ROLES.includes('worker')
  const refresh = newRefresh({ transactor: transactors.providers, providerIds: presentProviders })
  const catalogue = startCatalogueProcess(
    { pool, source: config.CATALOGUE_URL, filled: filling.over, refresh, now, logger },
    isWorker,
  )
  if (!isWorker) return { catalogue, close: catalogue.close }

  const proof = startTreeProcess({ url, log, signer, signed, now, logger, outage })
  const erasure = startErasure({
    url,
    log,
    codec,
    groups: groups.all,
    isCovered: (client, position) => isCovered(client, log, position),
    logger,
    outage,
  })
  const summaries = startSummaries({
    url,
    jobConnections: sizes.jobs,
    pool,
    log,
    codec,
    reads,
    watermark: groups.main.watermark,
    traces: transactors.forClients.traces,
    assertWritable,
    config,
    now,
    logger,
    outage,
  })
  const retention = startRetentionProcess(options)
  const close = async () => {
    await Promise.all([catalogue.close(), proof.close(), erasure.close(), summaries.close(), retention.close()])
  }
  return { catalogue, proof, close }
}
