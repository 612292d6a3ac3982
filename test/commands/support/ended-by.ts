import { onServer, withConnection } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { start } from './processes.ts'
import type { Ended, Variables } from './user.ts'

const waiting = `
  select from pg_locks l join pg_database d on d.oid = l.database
  where d.datname = current_database() and l.relation = 'log.appends'::regclass and not l.granted`

/**
 * Runs a command that appends to the log in the database `url`, and sends it a signal while it appends: its first append is
 * blocked until then.
 */
export const endedBy = (
  signal: 'SIGINT' | 'SIGTERM',
  url: string,
  args: readonly string[],
  variables: Variables,
): Promise<Ended> =>
  withConnection(url, async (holder) => {
    await holder.query('begin; lock table log.appends in share mode')
    const { child, ended } = start(args, variables)
    await until(async () => (await onServer(url, waiting)).rowCount === 1)
    child.kill(signal)
    await holder.query('rollback')
    return ended
  })
