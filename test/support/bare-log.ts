import { openEventStoreLog } from '../../src/log/eventstoredb/eventstoredb-log.ts'
import type { EventLog } from '../../src/log/log.ts'
import { openPostgresLog } from '../../src/log/postgres/postgres-log.ts'
import { eventStoreUrlOf } from './log-place.ts'

/** The log of a database, the adapter alone. */
export const openBareLog = (databaseUrl: string, options: { readonly maxAppendBytes?: number } = {}): EventLog => {
  const url = eventStoreUrlOf(databaseUrl)
  return url ? openEventStoreLog({ url, ...options }) : openPostgresLog({ url: databaseUrl, ...options })
}
