import type { Logger } from 'pino'
import { groups as allGroups, attributionGroup, searchGroup, timelineGroup } from '../../../projections/index.ts'
import type { ReadTables } from '../../tables/main.ts'
import type { Config } from '../config.ts'
import { openAttributionReads } from '../attribution/reads.ts'
import type { IsDiskLow } from '../../eventstore/embedded/disk.ts'
import { newCodec } from '../../eventstore/engine/codec.ts'
import type { Group } from '../../eventstore/engine/group.ts'
import { openGroups } from '../../eventstore/engine/open-groups.ts'
import { newOutageLog } from '../../eventstore/engine/outage.ts'
import { type ReadServer, openReads } from '../../eventstore/engine/reads.ts'
import { openStandby } from '../../eventstore/engine/standby.ts'
import { newWatermark } from '../../eventstore/engine/watermark.ts'
import { formats } from '../events.ts'
import { openTimelineReads } from '../history/timeline-reads.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import { newMetrics } from '../http/metrics.ts'
import { ANSWER_MS, newClient, newPool, withConnection } from '../../eventstore/postgres/connect.ts'
import { keepErrorsTerse } from '../../eventstore/postgres/error-verbosity.ts'
import { migrate } from '../../eventstore/postgres/migrate.ts'
import { poolSizes } from '../../eventstore/postgres/pool-sizes.ts'
import { readServerState, warningsOf } from '../../eventstore/postgres/server-check.ts'
import { openSearchReads } from '../search/reads.ts'
import { installGauges } from './gauges.ts'
import { openServiceLog } from './log.ts'

export type StoresOptions = {
  readonly config: Config
  readonly databaseUrl: string
  readonly logger: Logger
  /** Whether it was open before in this process. Then reads are served even if another log is there now. Default: false. */
  readonly isReopened?: boolean
  /** All groups of read models. Default: those of the service. */
  readonly groups?: readonly Group[]
  /** Whether the disk is so full that writes must be refused. Default: never, because only the disk of an embedded database is known. */
  readonly isDiskLow?: IsDiskLow
}

/** Aborts when the log is another one than it was, which is logged. */
const overWhenChanged = (log: Pick<EventLog, 'onChange'>, logger: Logger): AbortSignal => {
  const over = new AbortController()
  log.onChange(({ epoch, hasLostEnd }) => {
    if (hasLostEnd)
      logger.error({ epoch }, 'the log has lost its end, or another copy of it is in use: the service is opened again')
    else
      logger.info(
        { epoch },
        'the log has another epoch, as after `tracebook log restored`: the service is opened again',
      )
    over.abort()
  })
  return over.signal
}

/** Keeps the server's log of errors terse. Returns what an operator should change on the server, one sentence each. */
const prepareServer = (url: string, connections: number): Promise<string[]> =>
  withConnection(newClient(url, 'start'), async (client) => {
    const verbosity = await keepErrorsTerse(client)
    const warnings = warningsOf(await readServerState(client), connections)
    return verbosity ? [...warnings, verbosity] : warnings
  })

/** Migrates the database, and opens the log and the read models, with the positions that this node has reached in both. */
export const openStores = async (options: StoresOptions) => {
  const { config, databaseUrl, logger, isReopened = false, groups: known = allGroups } = options
  const { isDiskLow = () => false } = options
  const sizes = poolSizes(config.DATABASE_CONNECTIONS, known.length)
  await migrate(databaseUrl)
  for (const warning of await prepareServer(databaseUrl, config.DATABASE_CONNECTIONS)) logger.warn({}, warning)
  const metrics = newMetrics()
  const log = await openServiceLog({
    databaseUrl,
    connections: sizes.log,
    eventStoreUrl: config.EVENTSTORE_URL,
    metrics,
    logger,
    isReopened,
  })
  const over = overWhenChanged(log, logger)
  const codec = newCodec(formats)
  const outage = newOutageLog(logger)
  const lastSeen = newWatermark()
  const readUrl = config.DATABASE_READ_URL ?? databaseUrl
  const groups = openGroups({
    url: databaseUrl,
    readUrl,
    groups: known,
    log,
    codec,
    runs: config.ROLES.includes('projector'),
    lastSeen,
    logger,
    outage,
    hasRoom: (bytes) => !isDiskLow(bytes),
    observe: (group, events, ms) => {
      metrics.projectedEvents.inc({ group }, events)
      metrics.projectionSeconds.observe({ group }, ms / 1_000)
    },
  })
  const { schema } = groups.main
  const standby =
    readUrl === databaseUrl
      ? undefined
      : await openStandby({ url: readUrl, primaryUrl: databaseUrl, log, schema, logger })
  const readServer: ReadServer = { url: readUrl, standby, head: () => log.head(), lastSeen: lastSeen.position }
  const reads = openReads<ReadTables>({
    ...readServer,
    schema: groups.main.schema,
    size: sizes.reads,
    quarantine: groups.main.quarantine,
  })
  const timeline = openTimelineReads({
    ...readServer,
    group: groups.all.find(({ group }) => group.name === timelineGroup.name),
    mainSchema: groups.main.schema,
    size: sizes.timeline,
  })
  const searches = openSearchReads({
    ...readServer,
    group: groups.all.find(({ group }) => group.name === searchGroup.name),
    mainSchema: groups.main.schema,
    size: sizes.search,
  })
  const attributions = openAttributionReads({
    ...readServer,
    group: groups.all.find(({ group }) => group.name === attributionGroup.name),
    mainSchema: groups.main.schema,
    size: sizes.attribution,
  })
  const operations = newPool({
    url: databaseUrl,
    name: 'operations',
    max: sizes.operations,
    statementTimeoutMs: ANSWER_MS,
  })
  installGauges(metrics, groups, lastSeen.position, reads.pool)
  return {
    sizes,
    metrics,
    log,
    codec,
    over,
    outage,
    lastSeen,
    groups,
    standby,
    reads,
    timeline,
    searches,
    attributions,
    operations,
  }
}

export type Stores = Awaited<ReturnType<typeof openStores>>
