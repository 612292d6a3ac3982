import type pg from 'pg'
import { type StatDisk, diskSpace } from '../../eventstore/embedded/disk.ts'
import { readServerState } from '../../eventstore/postgres/server-check.ts'
import type { Config } from '../../server/config.ts'
import type { Connections, Disk, MissingRight, Slot, Unseen, Wal } from './figures.ts'

type Client = Pick<pg.ClientBase, 'query'>

/** The settings of the service that a server is compared with. */
export type ServerSettings = Pick<Config, 'DATABASE_URL' | 'DATA_DIR' | 'DATABASE_CONNECTIONS' | 'DISK_RESERVE_MB'>

type Server = {
  readonly role: string
  readonly readsSettings: boolean
  /** Whether the server is on this machine: the connection is one of its sockets. */
  readonly isLocal: boolean
  /** Where the database has its files; null without the right to know. */
  readonly folder: string | null
}

const serverStatement = `
  select s.*, case when s."readsSettings" then coalesce(
      nullif(pg_tablespace_location((select dattablespace from pg_database where datname = current_database())), ''),
      current_setting('data_directory')
    ) end as folder
  from (
    select current_user as role, pg_has_role('pg_read_all_settings', 'usage') as "readsSettings", inet_server_addr() is null as "isLocal"
  ) s`

export const readServer = async (client: Client): Promise<Server> =>
  (await client.query<Server>(serverStatement)).rows[0]!

/** A name as SQL has it. */
export const quoted = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`

const MB = 1024 * 1024

export const diskOf = (server: Server, config: ServerSettings, statfs?: StatDisk): Disk | Unseen => {
  const isEmbedded = config.DATABASE_URL === undefined
  if (!isEmbedded && !server.isLocal)
    return { unseen: 'PostgreSQL is on another machine, and does not tell what its disk holds: look there with df' }
  const folder = isEmbedded ? config.DATA_DIR : server.folder
  if (folder === null) return { unseen: 'the role may not know where PostgreSQL has its files' }
  try {
    return { folder, ...diskSpace(folder, statfs), reserve: isEmbedded ? config.DISK_RESERVE_MB * MB : 0 }
  } catch (error) {
    return { unseen: `the disk of ${folder} cannot be read: ${(error as Error).message}` }
  }
}

export const missingRights = ({ role, readsSettings, isLocal }: Server, config: ServerSettings): MissingRight[] => {
  if (config.DATABASE_URL === undefined || !isLocal || readsSettings) return []
  const right = 'pg_read_all_settings'
  const hides = 'where PostgreSQL has its files, and so what their disk holds'
  return [{ right, hides, grant: `grant ${right} to ${quoted(role)}` }]
}

/** Each process has one connection here that follows checkpoints, also if it reads a standby. */
const sessionsStatement = `
  select count(*)::int4 as ours, (count(*) filter (where application_name = 'tracebook checkpoint watch'))::int4 as processes
  from pg_stat_activity
  where datname = current_database() and starts_with(application_name, 'tracebook ') and pid <> pg_backend_pid()`

type Sessions = { readonly ours: number; readonly processes: number }

export const readConnections = async (client: Client, ofEach: number): Promise<Connections> => {
  const { free } = await readServerState(client)
  const { rows: opened } = await client.query<{ open: number }>(
    'select coalesce(sum(numbackends), 0)::int4 as open from pg_stat_database',
  )
  const { ours, processes } = (await client.query<Sessions>(sessionsStatement)).rows[0]!
  return {
    open: opened[0]!.open - 1, // without this one
    free,
    processes,
    ours,
    ofEach,
  }
}

const DAY_MS = 86_400_000

/** Without a `wal_status`, a slot keeps none: no standby has used it yet. */
const slotsStatement = `
  select slot_name as name, active as "isActive", wal_status as status,
    pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, restart_lsn)::float8 as kept
  from pg_replication_slots where wal_status is not null`

const walStatement = `
  select pg_size_bytes(current_setting('max_slot_wal_keep_size'))::float8 as most, wal_bytes::float8 as bytes,
    extract(epoch from now() - stats_reset)::float8 * 1000 as ms
  from pg_stat_wal`

type SlotRow = Omit<Slot, 'kept'> & { readonly kept: number | null }
type WalRow = { readonly most: number; readonly bytes: number; readonly ms: number | null }

export const readWal = async (client: Client): Promise<Wal> => {
  const { rows } = await client.query<SlotRow>(slotsStatement)
  const slots = rows.map(({ kept, ...slot }) => (kept === null ? slot : { ...slot, kept }))
  const { most, bytes, ms } = (await client.query<WalRow>(walStatement)).rows[0]!
  return {
    slots,
    ...(most < 0 ? {} : { most }),
    ...(ms === null || ms < DAY_MS ? {} : { perDay: (bytes * DAY_MS) / ms }),
  }
}
