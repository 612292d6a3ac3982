import { migrate } from '../postgres/migrate.ts'
import { openEventStoreLog } from './eventstoredb/eventstoredb-log.ts'
import type { EventLog } from './log.ts'
import { openPostgresLog } from './postgres/postgres-log.ts'

/** Whether a URL names a log in Postgres. */
const isPostgresUrl = (url: string): boolean => /^postgres(ql)?:/i.test(url)

/** The log that a URL names, of either kind, the adapter alone. A Postgres is brought to the version of this code. @throws BadAddress */
export const openAnyLog = async (url: string): Promise<EventLog> => {
  if (!isPostgresUrl(url)) return openEventStoreLog({ url })
  await migrate(url)
  return openPostgresLog({ url })
}
