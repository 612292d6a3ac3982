import type pg from 'pg'
import type { Look } from '../identity-check.ts'
import type { LogIdentity, Position } from '../log.ts'

/** A connection or a pool. */
type Asked = Pick<pg.ClientBase, 'query'>

type Row = LogIdentity & { readonly server: string | null; readonly present: string }

/** The system and its timeline: another one after a failover, and where a backup was restored. */
const present = `
  select system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) as present from pg_control_system()`

const select = `select i.id, i.epoch, i.server, p.present from log.identity i, (${present}) p`

const settle = `
  update log.identity set server = $1, epoch = case when server is null then epoch else gen_random_uuid() end
  where server is not distinct from $2`

const renew = 'update log.identity set epoch = gen_random_uuid() where epoch = $1'

const hold = `
  select (select id from log.events where position = $1) as id,
    coalesce((select max(position) from log.events), 0) >= $1 as reached`

/** What a connection says of the log. On another server or timeline than before, a new epoch begins. */
export const lookAt = (asked: Asked): Look & { readonly identity: () => Promise<LogIdentity> } => {
  const read = async (): Promise<Row> => (await asked.query<Row>(select)).rows[0]!

  const identity = async (): Promise<LogIdentity> => {
    let row = await read()
    while (row.server !== row.present) {
      await asked.query(settle, [row.present, row.server])
      row = await read()
    }
    return { id: row.id, epoch: row.epoch }
  }

  const holds = async (position: Position, id: string) => {
    const { rows } = await asked.query<{ id: string | null; reached: boolean }>(hold, [position])
    const { id: found, reached } = rows[0]!
    if (found !== null) return found === id
    return reached ? undefined : false
  }

  const renewEpoch = async (seen: string) => {
    await asked.query(renew, [seen])
    return identity()
  }

  return { identity, known: identity, holds, renewEpoch }
}
