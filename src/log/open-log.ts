import { openEventStoreLog } from './eventstoredb/eventstoredb-log.ts'
import type { EventLog } from './log.ts'
import { openPostgresLog } from './postgres/postgres-log.ts'
import { wholeAppends } from './whole-appends.ts'

export type OpenLogOptions = {
  readonly databaseUrl: string
  /** `EVENTSTORE_URL`: the log is there instead of in Postgres. */
  readonly eventStoreUrl?: string | undefined
  readonly deadlineMs?: number
  /** Appends, events and milliseconds of each write, for the metrics. */
  readonly observe?: (appends: number, events: number, ms: number) => void
}

/** The log of a service, whichever it is, with appends of any size. @throws BadAddress */
export const openLog = ({ databaseUrl, eventStoreUrl, ...options }: OpenLogOptions): EventLog =>
  wholeAppends(
    eventStoreUrl
      ? openEventStoreLog({ url: eventStoreUrl, ...options })
      : openPostgresLog({ url: databaseUrl, ...options }),
  )
