import { openEventStoreLog } from '../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import type { EventLog } from '../../src/eventstore/log/log.ts'
import { openPostgresLog } from '../../src/eventstore/log/postgres/postgres-log.ts'
import { eventStoreUrlOf } from './log-place.ts'

/** The adapter of a log in a database, without the layers that the service puts around it. */
export const openBareLog = (databaseUrl: string, options: { readonly maxAppendBytes?: number } = {}): EventLog => {
  const url = eventStoreUrlOf(databaseUrl)
  return url ? openEventStoreLog({ url, ...options }) : openPostgresLog({ url: databaseUrl, ...options })
}
