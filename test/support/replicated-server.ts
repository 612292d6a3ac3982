import { execFile } from 'node:child_process'
import { mkdir, chown, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onServer } from './database.ts'
import { type RunningServer, initCluster, newDatabaseOn, newServerFolder, startCluster } from './plain-server.ts'
import { until } from './until.ts'

const COMMON = ['max_connections=400', 'wal_keep_size=1GB', 'max_wal_size=2GB']
/** What a write through a node on the standby waits for: with the default, 200 ms, each of them takes 100 ms longer. */
const PRIMARY = [...COMMON, 'wal_writer_delay=10ms']

/**
 * A PostgreSQL and a streaming standby of it. Both begin with the same files, those of `initdb`, and the primary keeps all of its WAL: so that
 * a standby can be made again at any time, without a base backup.
 */
export const startReplicatedServer = async () => {
  const folder = await newServerFolder()
  const first = await initCluster(folder)
  const { account } = first
  const files = (name: string) => join(folder, name)
  const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]) // with owners and modes

  const socketsOf = async (name: string) => {
    const sockets = files(`${name}-sockets`)
    await mkdir(sockets)
    if (account) await chown(sockets, account.uid, account.gid)
    return sockets
  }
  const [ofPrimary, ofStandby, ofNext] = [
    await socketsOf('primary'),
    await socketsOf('standby'),
    await socketsOf('next'),
  ]
  await copy(first.folder, files('primary'))
  const primary = await startCluster({ ...first, folder: files('primary') }, ofPrimary, PRIMARY)

  const startFollowing = (name: string, sockets: string, followed: string) =>
    startCluster({ ...first, folder: files(name) }, sockets, [
      ...COMMON,
      `primary_conninfo=host=${followed} user=postgres`,
      'hot_standby_feedback=on',
      'wal_retrieve_retry_interval=100ms',
    ])
  const markStandby = (name: string) => writeFile(join(files(name), 'standby.signal'), '')
  const newFiles = async (name: string) => {
    await rm(files(name), { recursive: true, force: true })
    await copy(first.folder, files(name))
    await markStandby(name)
  }
  const startStandby = () => startFollowing('standby', ofStandby, ofPrimary)
  const makeStandby = async () => {
    await newFiles('standby')
    return startStandby()
  }
  let standby: RunningServer = await makeStandby()
  let next: RunningServer | undefined

  const stop = async () => {
    await next?.stop()
    await standby.stop()
    await primary.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const admin = () => standby.url('postgres', 'postgres')
  return {
    /** Creates an empty database that belongs to a new role, and waits until the standby has it. */
    newDatabase: async (name: string) => {
      const url = await newDatabaseOn(primary, name)
      const readUrl = standby.url(name, name)
      await until(() =>
        onServer(readUrl, 'select').then(
          () => true,
          () => false,
        ),
      )
      return { url, readUrl }
    },
    /** Sets which standbys a commit on the primary waits for; '' for none. */
    waitFor: async (standbys: string) => {
      await onServer(primary.url('postgres', 'postgres'), `alter system set synchronous_standby_names = '${standbys}'`)
      await onServer(primary.url('postgres', 'postgres'), 'select pg_reload_conf()')
    },
    pause: () => onServer(admin(), 'select pg_wal_replay_pause()'),
    resume: () => onServer(admin(), 'select pg_wal_replay_resume()'),
    promote: () => onServer(admin(), 'select pg_promote()'),
    /** Kills the standby, as a machine that fails. */
    kill: async () => {
      const [pid] = (await readFile(join(files('standby'), 'postmaster.pid'), 'utf8')).split('\n')
      process.kill(Number(pid), 'SIGKILL')
      await standby.stop()
    },
    /** Starts the standby that was killed. */
    restart: async () => {
      standby = await startStandby()
    },
    /** Starts a standby of the standby. @returns the URL of a database there */
    chain: async (name: string) => {
      await newFiles('next')
      next = await startFollowing('next', ofNext, ofStandby)
      return next.url(name, name)
    },
    stopPrimary: primary.stop,
    /** Makes the promoted standby one again, with what was written to it, so that it cannot follow the primary. */
    demote: async () => {
      await standby.stop()
      await markStandby('standby')
      standby = await startStandby()
    },
    /** Puts a new standby in the place of the old one. */
    replace: async () => {
      await standby.stop()
      standby = await makeStandby()
    },
    stop,
  }
}

export type ReplicatedServer = Awaited<ReturnType<typeof startReplicatedServer>>
