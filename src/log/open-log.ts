import type { EventLog } from './log.ts'
import { openPostgresLog } from './postgres/postgres-log.ts'
import { wholeAppends } from './whole-appends.ts'

export type OpenLogOptions = {
  readonly databaseUrl: string
  /** `EVENTSTORE_URL`: the log is there instead of in Postgres. */
  readonly eventStoreUrl?: string | undefined
  readonly deadlineMs?: number
  /** How many connections reads of a log in Postgres may take. */
  readonly connections?: number
  /** Appends, events and milliseconds of each write, for the metrics. */
  readonly observe?: (appends: number, events: number, ms: number) => void
}

/** Loaded by need: its client weighs as much in memory as the rest of a small service. */
const openEventStore = async (options: { url: string }): Promise<EventLog> =>
  (await import('./eventstoredb/eventstoredb-log.ts')).openEventStoreLog(options)

/** The log of a service, whichever it is, with appends of any size. @throws BadAddress */
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
