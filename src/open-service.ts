import type { Logger } from 'pino'
import { type ReadTables, groups as ourGroups } from '../projections/index.ts'
import type { Config, ServiceRole } from './config.ts'
import { newCodec } from './engine/codec.ts'
import { foldSource } from './engine/fold.ts'
import type { Group } from './engine/group.ts'
import { openGroups } from './engine/groups.ts'
import { newHorizon } from './engine/horizon.ts'
import type { Happened } from './engine/projection.ts'
import { newOutage } from './engine/outage.ts'
import { openReads } from './engine/reads.ts'
import { Unavailable } from './engine/rejected.ts'
import { type DomainEvent, type StreamKind } from './engine/stream.ts'
import { OtherLog, assertSameLog } from './engine/same-log.ts'
import { type Transactor, newTransactor } from './engine/transact.ts'
import { startWatch } from './engine/watch.ts'
import { withTimeout } from './engine/with-timeout.ts'
import { newWrite } from './engine/write.ts'
import { startErasure } from './erasure/process.ts'
import { formats } from './events.ts'
import { newFeedCache } from './feed/cache.ts'
import { MAX_LAG_MS, groupsHealth, measureGroups, newProjectorWatch } from './groups-health.ts'
import { newBodyThreads } from './http/body-thread.ts'
import { openLimits } from './http/limits.ts'
import { newStreams } from './http/stream.ts'
import { newLogId } from './log/log-id.ts'
import { openLog } from './log/open-log.ts'
import { provenLog } from './log/proven-log.ts'
import { newMetrics } from './metrics.ts'
import { modelProviders } from './models/decide.ts'
import { startCatalogueProcess } from './models/process.ts'
import { providerIds } from './models/queries.ts'
import { newRefresh } from './models/refresh.ts'
import { newModelRegistry } from './models/registry.ts'
import { newAvatarStore } from './namespace/avatar-store.ts'
import { namespaces } from './namespace/decide.ts'
import { openQuotas } from './namespace/quotas.ts'
import { newClockCheck } from './postgres/clock.ts'
import { newPool } from './postgres/connect.ts'
import { migrate } from './postgres/migrate.ts'
import { poolSizes } from './postgres/pool-sizes.ts'
import type { Readiness } from './http/health.ts'
import type { Service } from './service.ts'
import { sessions } from './session/decide.ts'
import { newTokens } from './session/tokens.ts'
import { newLastUsedTimes } from './session/last-used.ts'
import { newHandshakes } from './signin/handshakes.ts'
import { startSummaries } from './summary/process.ts'
import { traces } from './trace/decide.ts'
import { trimTrace } from './trace/kept.ts'
import { traceSource } from './trace/source.ts'
import { identities, users } from './user/decide.ts'

export type OpenOptions = {
  readonly config: Config
  readonly databaseUrl: string
  readonly logger: Logger
  /** Whether the disk is so full that writes must be refused; only known of an embedded database. */
  readonly isDiskLow?: () => boolean
  readonly now?: () => number
  /** All groups of read models. */
  readonly groups?: readonly Group[]
}

export type OpenService = { readonly service: Service; close(): Promise<void> }

const VISIBLE_MS = 5_000
const TRACES_BYTES = 16 * 1024 * 1024
const NAMESPACES_BYTES = 16 * 1024 * 1024
const OPERATION_MS = 5_000
const CLOSE_MS = 3_000
const UNREACHABLE = 'the log cannot be reached'
/** What a start waits for a log that does not answer. */
const START_MS = 5_000

const briefly = (work: Promise<void>) => withTimeout(START_MS, UNREACHABLE, work).catch(() => {})

/** Builds the service from its parts, and starts what its roles ask for. Everything is wired here, by argument. */
export const openService = async (options: OpenOptions): Promise<OpenService> => {
  const { config, databaseUrl, logger, isDiskLow = () => false, now = Date.now, groups: known = ourGroups } = options
  const sizes = poolSizes(config.DATABASE_CONNECTIONS, known.length)
  const has = (role: ServiceRole) => config.ROLES.includes(role)
  await migrate(databaseUrl)
  const metrics = newMetrics()
  const codec = newCodec(formats)
  const bare = await openLog({
    databaseUrl,
    connections: sizes.log,
    eventStoreUrl: config.EVENTSTORE_URL,
    observe: (appends, events, ms) => {
      metrics.appendBatches.observe(appends)
      metrics.appendedEvents.inc(events)
      metrics.appendSeconds.observe(ms / 1_000)
    },
  })

  /** The reason, when it is not the log of the read models. */
  const prove = () =>
    assertSameLog(databaseUrl, bare).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof OtherLog) return error
        throw error
      },
    )
  const log = provenLog({
    log: bare,
    prove,
    refused: (reason) =>
      logger.fatal({ reason: reason.message }, 'the log is refused: nothing is written or projected'),
  })
  // A log that is away is not waited for: reads need none.
  await briefly(log.tried)
  const problem = log.problem()
  if (problem instanceof OtherLog) {
    await log.close()
    throw problem
  }

  const closing = new AbortController()
  const logId = newLogId(log, closing.signal)
  const caches = newHorizon()
  const outage = newOutage(logger)
  const groups = openGroups({
    url: databaseUrl,
    groups: known,
    log,
    codec,
    runs: has('projector'),
    heard: caches,
    logger,
    outage,
    observe: (group, events, ms) => {
      metrics.projectedEvents.inc({ group }, events)
      metrics.projectionSeconds.observe({ group }, ms / 1_000)
    },
  })
  const { main } = groups
  const { schema, horizon: models } = main

  const reads = openReads<ReadTables>({
    url: databaseUrl,
    schema,
    size: sizes.reads,
    quarantine: main.quarantine,
    head: () => log.head(),
    heard: caches.position,
  })
  const operations = newPool(databaseUrl, 'operations', sizes.operations, OPERATION_MS)

  const common = { log, codec, now, isCurrent: () => watch.isAlive(), models, assertClear: main.quarantine.assertClear }
  const folded = <State, Event extends DomainEvent>(kind: StreamKind<State, Event>, own: { budget?: number } = {}) =>
    newTransactor({ kind, source: foldSource(kind, log, codec), ...common, ...own })
  const transactors = {
    users: folded(users),
    identities: folded(identities),
    sessions: folded(sessions),
    namespaces: folded(namespaces, { budget: NAMESPACES_BYTES }),
    traces: newTransactor({
      kind: traces,
      source: traceSource(reads, (position) => models.passed(position, VISIBLE_MS, false)),
      trim: trimTrace,
      budget: TRACES_BYTES,
      ...common,
    }),
  }
  const providers = folded(modelProviders, { budget: 0 }) // a refresh asks once for each
  const byCategory: Record<string, Pick<Transactor<unknown, DomainEvent>, 'observe' | 'forget'>> = {
    user: transactors.users,
    identity: transactors.identities,
    session: transactors.sessions,
    namespace: transactors.namespaces,
    trace: transactors.traces,
    models: providers,
  }

  const tokens = newTokens({ reads, now, isAlive: () => watch.isAlive() })
  const lastUsed = newLastUsedTimes({ pool: operations, now })
  const limits = openLimits({ config, databaseUrl, connections: sizes.limits, logger })
  const bodyThreads = newBodyThreads((error) => logger.warn({ reason: error.message }, 'large bodies cannot be read'))
  const feedCache = newFeedCache(() => watch.isAlive())
  const streams = newStreams({ now, isAlive: () => watch.isAlive() })
  log.onChange(streams.restart)
  const registry = newModelRegistry(reads, () => models.passed(caches.position(), VISIBLE_MS), feedCache.clear)
  const observe = (event: Happened) => {
    byCategory[event.stream.slice(0, event.stream.indexOf('-'))]?.observe(event.stream, event.revision)
    tokens.observe([event])
    feedCache.observe(event)
    streams.observe(event)
    registry.observe(event)
  }
  const forget = () => {
    for (const transactor of Object.values(byCategory)) transactor.forget()
    tokens.clear()
    feedCache.clear()
    streams.clear()
    registry.clear()
  }
  main.quarantine.onChange(forget)
  const watch = startWatch({
    log,
    codec,
    horizon: caches,
    models,
    lags: groups.all.map(({ lag }) => lag),
    outage,
    observe,
    forget,
  })
  if (!log.problem()) await briefly(watch.begun)
  /** Why the log is not used, in words. */
  const logProblem = () => log.problem()?.message ?? (watch.hasBegun() ? undefined : UNREACHABLE)
  const erasure = has('worker')
    ? startErasure({ url: databaseUrl, log, groups: groups.all, logger, outage })
    : undefined

  const refresh = newRefresh({ transactor: providers, providerIds: () => providerIds(reads) })
  const catalogue = startCatalogueProcess(
    { pool: operations, source: config.CATALOGUE_URL, refresh, now, logger },
    has('worker'),
  )

  const assertWritable = () => {
    const missing = logProblem()
    if (missing) throw new Unavailable(missing)
    if (isDiskLow()) throw new Unavailable('the disk is nearly full')
    const state = main.state()
    if (state?.is === 'stopped') throw new Unavailable(`projections have stopped: ${state.reason}`)
    if (main.lag.ms() > MAX_LAG_MS) throw new Unavailable('the read models are too far behind')
  }

  const summaries = has('worker')
    ? startSummaries({
        url: databaseUrl,
        jobConnections: sizes.jobs,
        pool: operations,
        log,
        codec,
        reads,
        models,
        traces: transactors.traces,
        assertWritable,
        config,
        now,
        logger,
        outage,
      })
    : undefined

  const avatars = newAvatarStore({ pool: operations, now })
  const clock = newClockCheck({ pool: operations, now })
  const projectors = newProjectorWatch(operations)
  const readiness = async (): Promise<Readiness> => {
    const [health, complaint, readable, writable] = await Promise.all([
      groupsHealth({ groups, pool: operations, heard: caches.position, projectors }),
      clock.complaint(),
      reads.check(),
      logProblem() ??
        withTimeout(VISIBLE_MS, UNREACHABLE, log.head()).then(
          () => undefined,
          () => UNREACHABLE,
        ),
    ])
    const [missing, degraded] = [[...health.missing], [...health.degraded]]
    for (const reason of [readable, writable]) if (reason) missing.push(reason)
    if (isDiskLow()) missing.push('the disk is nearly full: writes are refused')
    if (complaint) degraded.push(complaint)
    return { missing, degraded }
  }

  measureGroups(metrics, groups, caches.position)
  metrics.gauge('tracebook_pool_connections', 'Connections of the pool for reads', () => reads.pool.totalCount)
  metrics.gauge('tracebook_pool_idle', 'Idle connections of the pool for reads', () => reads.pool.idleCount)
  metrics.gauge('tracebook_pool_waiting', 'Queries that wait for a connection', () => reads.pool.waitingCount)

  const visible = async (position: bigint) => {
    await Promise.all([models.passed(position, VISIBLE_MS), caches.passed(position, VISIBLE_MS)])
  }

  const service: Service = {
    config,
    now,
    logger,
    metrics,
    log,
    logId: logId.get,
    codec,
    reads,
    streams,
    bodyThreads,
    ...transactors,
    tokens,
    lastUsed,
    feedCache,
    models: registry,
    catalogue,
    limits,
    handshakes: newHandshakes({ pool: operations, now }),
    avatars,
    quotas: openQuotas(config, { reads, avatars }),
    visible,
    write: newWrite({ assertWritable, visible }),
    assertWritable,
    readiness,
  }

  const end = async () => {
    closing.abort()
    await Promise.all([lastUsed.close(), limits?.close(), catalogue.close(), summaries?.close(), erasure?.close()])
    await bodyThreads.close()
    await Promise.all([watch.close(), groups.close()])
    await log.close()
    await Promise.all([reads.close(), operations.end()])
  }

  /** A database that does not answer is not waited for. */
  const close = () =>
    withTimeout(CLOSE_MS, 'the database does not let go', end()).catch((error: unknown) => {
      logger.warn({ err: error }, 'not everything has been closed')
    })

  return { service, close }
}
