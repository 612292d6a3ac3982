import { migrate } from '../postgres/migrate.ts'
import type { EventLog, StoredRecord } from './log.ts'
import { openPostgresLog } from './postgres/postgres-log.ts'
import { wholeAppends } from './whole-appends.ts'

export type OpenLogOptions = {
  readonly databaseUrl: string
  /** `EVENTSTORE_URL`: the log is there instead of in PostgreSQL. */
  readonly eventStoreUrl?: string | undefined
  readonly deadlineMs?: number
  /** How many connections the reads of a log in PostgreSQL may take. */
  readonly connections?: number
  /** Called after each write, for the metrics. */
  readonly observe?: (appends: number, events: number, ms: number) => void
}

/** Imported only if it is needed: the client takes as much memory as the rest of a small service. */
const openEventStore = async (options: { url: string }): Promise<EventLog<StoredRecord>> =>
  (await import('./eventstoredb/eventstoredb-log.ts')).openEventStoreLog(options)

/** Opens the log of a service, in PostgreSQL or EventStoreDB, for appends of any size. @throws BadAddress */
export const openLog = async ({
  databaseUrl,
  eventStoreUrl,
  connections,
  ...options
}: OpenLogOptions): Promise<EventLog> =>
  wholeAppends(
    eventStoreUrl
      ? await openEventStore({ url: eventStoreUrl, ...options })
      : openPostgresLog({ url: databaseUrl, ...(connections ? { connections } : {}), ...options }),
  )

export const isPostgresUrl = (url: string): boolean => /^postgres(ql)?:/i.test(url)

/** Opens the adapter for a URL of either kind, without `wholeAppends`; migrates a PostgreSQL first. @throws BadAddress */
export const openAdapter = async (url: string): Promise<EventLog<StoredRecord>> => {
  if (!isPostgresUrl(url)) return openEventStore({ url })
  await migrate(url)
  return openPostgresLog({ url })
}
