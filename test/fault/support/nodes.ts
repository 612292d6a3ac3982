import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { newCodec } from '../../../src/eventstore/engine/codec.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { formats } from '../../../src/server/events.ts'
import { wholeAppends } from '../../../src/eventstore/log/whole-appends.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { onServer } from '../../support/database.ts'
import { openBareLog } from '../../support/bare-log.ts'
import { logEnvironment } from '../../support/log-place.ts'
import { sweepAll } from '../../support/sweep.ts'
import { type Service, serveOn } from './service.ts'

export const schema = schemaOf(mainGroup)

/** Starts another node of the service on a database, as a process with a folder of its own. */
export const openNode = async (
  folder: string,
  name: string,
  databaseUrl: string,
  env: Record<string, string> = {},
): Promise<Service> => {
  const dataDir = join(folder, name)
  await mkdir(dataDir)
  return serveOn(dataDir, { DATABASE_URL: databaseUrl, ...logEnvironment(databaseUrl), ...env })
}

/** A session of a server, distinguished from a later one with the same process id. */
export type Session = { readonly pid: number; readonly started: string }

const holding = `
  select a.pid, a.backend_start::text as started from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.granted and l.mode = 'ExclusiveLock'
    and l.database = (select oid from pg_database where datname = current_database())
    and l.objid = (hashtext($1)::int8 & 4294967295)::oid`

/** The session that holds the exclusive advisory lock of this name. */
export const holderOf = async (url: string, lock: string): Promise<Session | undefined> =>
  (await onServer(url, holding, [lock])).rows[0] as Session | undefined

/** Whether a session still exists. */
export const isThere = async (url: string, { pid, started }: Session): Promise<boolean> =>
  (
    await onServer(url, 'select from pg_stat_activity where pid = $1 and backend_start = $2::timestamptz', [
      pid,
      started,
    ])
  ).rows.length > 0

/** Asserts that the read models equal a rebuild from the log exactly. Nothing may be written meanwhile. */
export const assertAsRebuilt = async (url: string): Promise<void> => {
  await sweepAll(url) // as a rebuild does
  const live = await dumpSchema(url, schema)
  const log = wholeAppends(openBareLog(url))
  try {
    await rebuild({ url, group: mainGroup, log, codec: newCodec(formats) })
  } finally {
    await log.close()
  }
  assert.equal(await dumpSchema(url, schema), live)
}
