import type pg from 'pg'
import type { LogProbe } from '../identity-check.ts'
import type { LogIdentity, Position } from '../log.ts'
import { idAt } from './rows.ts'

/** A connection or a pool. */
type Queryable = Pick<pg.ClientBase, 'query'>

type Row = LogIdentity & { readonly server: string | null; readonly current: string }

/** The server's system identifier and timeline. They change with a failover, and when a backup is restored. */
const currentServer = `
  select system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) as current from pg_control_system()`

const select = `select i.id, i.epoch, i.server, p.current from log.identity i, (${currentServer}) p`

/** The first server that is noted, by the first start, keeps the epoch. */
const updateServer = `
  update log.identity set server = $1, epoch = case when server is null then epoch else gen_random_uuid() end
  where server is not distinct from $2`

const updateEpoch = 'update log.identity set epoch = gen_random_uuid() where epoch = $1'

const selectId = idAt('$1')

/**
 * Reads the log's identity over a connection. On another server or timeline than before, begins a new epoch. A migration has created the
 * identity, so `identity` and `storedIdentity` are the same.
 */
export const newProbe = (queryable: Queryable): LogProbe & { readonly identity: () => Promise<LogIdentity> } => {
  const read = async (): Promise<Row> => (await queryable.query<Row>(select)).rows[0]!

  const identity = async (): Promise<LogIdentity> => {
    let row = await read()
    // Again if another process has changed the row meanwhile.
    while (row.server !== row.current) {
      await queryable.query(updateServer, [row.current, row.server])
      row = await read()
    }
    return { id: row.id, epoch: row.epoch }
  }

  const holds = async (position: Position, id: string) => {
    const { rows } = await queryable.query<{ id: string | null }>(selectId, [position])
    const [row] = rows
    if (!row) return false
    return row.id === null ? undefined : row.id === id
  }

  const renewEpoch = async (seen: string) => {
    await queryable.query(updateEpoch, [seen])
    return identity()
  }

  return { identity, storedIdentity: identity, holds, renewEpoch }
}
