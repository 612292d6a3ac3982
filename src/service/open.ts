import { subscribeCaches } from '../engine/cache-subscription.ts'
import { withTimeout } from '../engine/with-timeout.ts'
import { newWrite } from '../engine/write.ts'
import { newBodyThreads } from '../http/body-thread.ts'
import { openLimits } from '../http/limits.ts'
import { newLogId } from '../log/log-id.ts'
import { newAvatarStore } from '../namespace/avatar-store.ts'
import { openQuotas } from '../namespace/quotas.ts'
import { newPastAnswers } from '../history/past-answers.ts'
import { newPastMemo } from '../history/past-memo.ts'
import { readSigner } from '../proof/keys.ts'
import { newConnections } from '../realtime/connections.ts'
import { newFlow } from '../realtime/flow.ts'
import { newLastUsedTimes } from '../session/last-used.ts'
import { newWakeup } from '../erasure/wakeable-sleep.ts'
import { newOneTimeCodes } from '../session/one-time-codes.ts'
import { newHandshakes } from '../signin/handshakes.ts'
import { newCaches } from './caches.ts'
import { installProofGauges, installRealtimeGauges } from './gauges.ts'
import { UNREACHABLE, waitDuringStart } from './log.ts'
import { startProcesses } from './processes.ts'
import { newServiceHealth } from './health.ts'
import type { Service } from './service.ts'
import { type StoresOptions, openStores } from './stores.ts'
import { newTransactors } from './transactors.ts'

export type OpenOptions = StoresOptions & {
  /** Whether the disk is so full that writes must be refused; only known with an embedded database. */
  readonly isDiskLow?: () => boolean
  /** The folder of an embedded database, where the key that signs checkpoints is made if none is configured. */
  readonly dataDir?: string
  readonly now?: () => number
}

export type OpenService = { readonly service: Service; close(): Promise<void> }

const VISIBLE_MS = 5_000
const CLOSE_MS = 3_000
/** How long requests for a checkpoint of a new service wait for the first one. */
const FIRST_CHECKPOINT_MS = 5_000

/** Builds the service from its parts, and starts the processes of its roles. All parts are wired here, by argument. */
export const openService = async (options: OpenOptions): Promise<OpenService> => {
  const { config, databaseUrl, logger, isDiskLow = () => false, now = Date.now } = options
  const auditSigner = await readSigner(config, options.dataDir)
  const isWorker = config.ROLES.includes('worker')
  if (!auditSigner && isWorker)
    logger.warn({}, 'neither AUDIT_KEY nor AUDIT_KEY_FILE is set: no checkpoints of the log are signed')
  const stores = await openStores(options)
  const { sizes, metrics, log, codec, outage, lastSeen, groups, reads, timeline, operations } = stores
  const { watermark: readModels, quarantine } = groups.main
  const closing = new AbortController()
  const logId = newLogId(log, closing.signal)

  const isCurrent = () => subscription.isCurrent()
  const caches = newCaches({
    reads,
    now,
    isCurrent,
    lastSeen: lastSeen.position,
    readModelsAt: readModels.position,
    caughtUp: (position) => readModels.waitFor(position, VISIBLE_MS),
    metrics,
  })
  const transactors = newTransactors({
    reads,
    caughtUp: (position) => readModels.waitFor(position, VISIBLE_MS, false),
    log,
    codec,
    now,
    isCurrent,
    readModels,
    assertNotQuarantined: quarantine.assertNotQuarantined,
  })
  const clear = (position: bigint) => {
    transactors.clear()
    caches.clear(position)
  }
  quarantine.onChange(() => clear(lastSeen.position()))
  log.onChange(caches.restart)
  const retentionWakeup = newWakeup()
  const subscription = subscribeCaches({
    log,
    codec,
    watermark: lastSeen,
    readModels,
    lags: groups.all.map(({ lag }) => lag),
    outage,
    observe: (event) => {
      transactors.observe(event)
      caches.observe(event)
      if (event.type === 'RetentionChanged') retentionWakeup.wake()
    },
    clear,
  })
  if (!log.problem()) await waitDuringStart(subscription.started)

  const logProblem = () => log.problem()?.message ?? (subscription.hasStarted() ? undefined : UNREACHABLE)
  const { assertWritable, readiness } = newServiceHealth({
    groups,
    log,
    logProblem,
    reads,
    pool: operations,
    lastSeen: lastSeen.position,
    isDiskLow,
    now,
  })

  const processes = startProcesses({
    ...stores,
    config,
    databaseUrl,
    transactors,
    assertWritable,
    retentionWakeup,
    auditSigner,
    now,
    logger,
  })
  installProofGauges(metrics, processes.proof)

  const visible = async (position: bigint) => {
    await Promise.all([readModels.waitFor(position, VISIBLE_MS), lastSeen.waitFor(position, VISIBLE_MS)])
  }
  const flow = newFlow()
  const connections = newConnections(config, flow, (code) => metrics.realtimeDropped.inc({ code }))
  installRealtimeGauges(metrics, connections, caches.live)
  const avatars = newAvatarStore({ pool: operations, now })
  const lastUsed = newLastUsedTimes({ pool: operations, now })
  const limits = openLimits({ config, databaseUrl, connections: sizes.limits, logger })
  const bodyThreads = newBodyThreads((error) => logger.warn({ reason: error.message }, 'large bodies cannot be read'))

  const memo = newPastMemo()
  log.onChange(memo.clear)
  const history = { reads, timeline, log, codec, models: caches.models, memo, streams: caches.streams }
  const service: Service = {
    config,
    now,
    logger,
    metrics,
    logId: logId.get,
    ...history,
    past: newPastAnswers(history),
    live: caches.live,
    flow,
    connections,
    tokens: caches.tokens,
    feedCache: caches.feedCache,
    ...transactors.written,
    bodyThreads,
    lastUsed,
    catalogue: processes.catalogue,
    limits,
    codes: newOneTimeCodes({ pool: operations, now }),
    handshakes: newHandshakes({ pool: operations, now }),
    avatars,
    quotas: openQuotas(config, { reads, avatars }),
    visible,
    write: newWrite({ assertWritable, visible }),
    assertWritable,
    readiness,
    // A worker may have a key that this process has not.
    // Only workers sign, so other processes need no key.
    checkpoints: {
      areServed: auditSigner !== undefined || !isWorker,
      waitUntil: performance.now() + FIRST_CHECKPOINT_MS,
    },
  }

  const closeAll = async () => {
    closing.abort()
    await Promise.all([lastUsed.close(), limits?.close(), processes.close()])
    await bodyThreads.close()
    await Promise.all([subscription.close(), groups.close()])
    await log.close()
    await Promise.all([reads.close(), timeline.close(), operations.end()])
  }

  /** Waits for a database that does not answer for 3 s only. */
  const close = () =>
    withTimeout(CLOSE_MS, 'the database does not let go', closeAll()).catch((error: unknown) => {
      logger.warn({ err: error }, 'not everything has been closed')
    })

  return { service, close }
}
