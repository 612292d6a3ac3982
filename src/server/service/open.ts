import { REQUEST_WAIT_MS } from '../../base/waits.ts'
import { withTimeout } from '../../eventstore/engine/rejected.ts'
import { newWrite } from '../../eventstore/engine/write.ts'
import { LOG_UNREACHABLE, newServiceHealth } from '../health/readiness.ts'
import { newLineKeys } from '../attribution/keys.ts'
import { newErasePast } from '../history/erase-past.ts'
import { namespaceById } from '../namespace/queries.ts'
import { newMoves } from '../history/move-trace.ts'
import { newWholeTraces } from '../history/whole-traces.ts'
import { newPastAnswers } from '../history/past-answers.ts'
import type { HistoryServices } from '../history/services.ts'
import { newBodyThreads } from '../http/parse-bodies.ts'
import { newNodePermits } from '../http/node-permits.ts'
import { newLogId } from '../../eventstore/log/log-id.ts'
import { isHeld } from '../proof/queries.ts'
import { originWarning, readSigner } from '../proof/keys.ts'
import type { Signed } from '../proof/process.ts'
import { type Filling, NO_FILLING, startFilling } from '../models/fill.ts'
import { providerIds } from '../models/queries.ts'
import { newConnections } from '../realtime/connections.ts'
import { newExpiringTraces } from '../retention/expiring-traces.ts'
import { newKeepTraces } from '../retention/keep-traces.ts'
import { newRowMaking } from '../web/row-making.ts'
import { installDiskGauge, installPermitGauges, installProofGauges, installRealtimeGauges } from './gauges.ts'
import { waitDuringStart } from './log.ts'
import { type Memory, openMemory } from './memory.ts'
import { openOperationalData } from './operational-data.ts'
import { startProcesses } from './processes.ts'
import type { Service } from './service.ts'
import { type Stores, type StoresOptions, openStores } from './stores.ts'

export type OpenOptions = StoresOptions & {
  /** The folder of an embedded database. The key that signs checkpoints is created there if none is configured. */
  readonly dataDir?: string
  /** What this node has signed before it was opened again. Default: nothing. */
  readonly signed?: Signed
  /** Whether an empty model registry is filled before anything is written. Default true. */
  readonly fillsRegistry?: boolean
  /** The clock, in milliseconds. Default: that of the system. */
  readonly now?: () => number
}

export type OpenService = { readonly service: Service; close(): Promise<void> }

const CLOSE_MS = 3_000
/** How long the first start waits until the model registry is filled: before that writes are refused, which a client that sees the service would not expect. */
const FILL_MS = 20_000
/** How long requests for a checkpoint wait for the first one of a new service. */
const FIRST_CHECKPOINT_MS = 5_000

/** The key that signs checkpoints of the log; undefined if there is none; a worker then logs a warning. */
const readAuditSigner = async ({ config, dataDir, logger }: OpenOptions) => {
  const signer = await readSigner(config, dataDir)
  if (!signer && config.ROLES.includes('worker'))
    logger.warn({}, 'neither AUDIT_KEY nor AUDIT_KEY_FILE is set: no checkpoints of the log are signed')
  const warning = signer && originWarning(signer, config)
  if (warning) logger.warn({}, warning)
  return signer
}

/** What keeps this node from using the log; undefined for nothing. */
const logProblemOf = (log: Stores['log'], memory: Memory, filling: Filling): string | undefined => {
  const problem = log.problem()?.message
  if (problem !== undefined) return problem
  if (!memory.hasStarted()) return LOG_UNREACHABLE
  return filling.isOver() ? undefined : 'the model registry is not filled yet'
}

/** Builds the service from its parts, and starts the processes of its roles. All parts are wired here, by argument. */
export const openService = async (options: OpenOptions): Promise<OpenService> => {
  const { config, databaseUrl, logger, isDiskLow = () => false, signed = {}, now = Date.now } = options
  const { fillsRegistry = true } = options
  const auditSigner = await readAuditSigner(options)
  const stores = await openStores(options)
  const { metrics, log, codec, over, lastSeen, groups, standby, reads, timeline, searches, attributions, operations } =
    stores
  const closing = new AbortController()
  const logId = newLogId(log, closing.signal)

  const permits = newNodePermits(config.DATABASE_CONNECTIONS)
  const memory = await openMemory(stores, permits, now)
  const { caches, transactors, visible, retentionWakeup } = memory
  installPermitGauges(metrics, permits)
  if (options.dataDir) installDiskGauge(metrics, options.dataDir)
  const shown = (position: bigint) => groups.main.watermark.waitFor(position, REQUEST_WAIT_MS, false)
  const presentProviders = async () => {
    await shown(await log.head())
    return providerIds(reads)
  }
  const fill = () =>
    startFilling({
      pool: operations,
      source: config.CATALOGUE_URL,
      transactor: transactors.providers,
      providerIds: presentProviders,
      shown,
      now,
      logger,
      signal: closing.signal,
    })
  const filling = fillsRegistry ? fill() : NO_FILLING
  const { assertWritable, readiness } = newServiceHealth({
    groups,
    log,
    logProblem: () => logProblemOf(log, memory, filling),
    reads,
    pool: operations,
    lastSeen: lastSeen.position,
    isDiskLow,
    now,
  })
  const write = newWrite({ assertWritable, visible })
  const work = { transactors, presentProviders, filling, assertWritable, retentionWakeup, auditSigner, signed }
  const processes = startProcesses({ ...stores, ...work, config, databaseUrl, now, logger })
  installProofGauges(metrics, processes.proof)

  const { close: closeData, ...data } = openOperationalData({ config, databaseUrl, stores, now, logger })
  const bodyThreads = newBodyThreads((error) =>
    logger.warn({ reason: error.message }, 'a thread that parses large bodies has failed'),
  )
  const rowMaking = newRowMaking((error) =>
    logger.warn({ reason: error.message }, 'the thread that makes rows of sessions has failed'),
  )
  const connections = newConnections(config, (code) => metrics.realtimeDropped.inc({ code }))
  installRealtimeGauges(metrics, connections, caches.live)
  const { models, longLists, memo } = caches
  const history: HistoryServices = { reads, timeline, log, codec, models, memo, longLists }
  const ofWholeTraces = {
    ...history,
    traces: transactors.forClients.traces,
    caughtUp: visible,
    now,
    wholeTraces: newWholeTraces(),
    roleIn: async (namespaceId: string, userId: string) => (await namespaceById(reads, namespaceId, userId)).role,
  }

  const service: Service = {
    config,
    now,
    logger,
    over,
    metrics,
    logId: logId.get,
    logOfAllEpochs: logId.ofAllEpochs,
    isHeld: (anchor) => isHeld(log, reads, anchor),
    ...history,
    searches,
    attributions,
    lineKeys: newLineKeys(operations),
    past: newPastAnswers(history),
    erasePast: newErasePast(ofWholeTraces),
    ...newMoves({ ...ofWholeTraces, quotas: data.quotas }),
    live: caches.live,
    connections,
    tokens: caches.tokens,
    feedCache: caches.feedCache,
    publicFiles: caches.publicFiles,
    publicPages: caches.publicPages,
    people: caches.people,
    ...transactors.forClients,
    ...data,
    permits,
    bodyThreads,
    rowMaking,
    catalogue: processes.catalogue,
    visible,
    write,
    keepTraces: newKeepTraces({
      expiring: newExpiringTraces(operations),
      traces: transactors.forClients.traces,
      write,
      now,
    }),
    assertWritable,
    readiness,
    // Only workers sign. Other processes serve the signed checkpoints without a key of their own.
    checkpoints: {
      areServed: auditSigner !== undefined || !config.ROLES.includes('worker'),
      waitUntil: performance.now() + FIRST_CHECKPOINT_MS,
    },
  }

  const closeAll = async () => {
    closing.abort()
    permits.close()
    await Promise.all([closeData(), processes.close(), filling.over])
    await Promise.all([bodyThreads.close(), rowMaking.close()])
    await Promise.all([memory.close(), groups.close()])
    await log.close()
    await standby?.close()
    await Promise.all([reads.close(), timeline.close(), searches.close(), attributions.close(), operations.end()])
  }

  if (!log.problem()) await waitDuringStart(filling.over, FILL_MS)

  /** Waits up to 3 s for a database that does not answer. */
  const close = () =>
    withTimeout(CLOSE_MS, 'the database did not answer in time', closeAll()).catch((error: unknown) => {
      logger.warn({ err: error }, 'some parts of the service could not be closed')
    })

  return { service, close }
}
