import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chooseAccount } from '../../src/eventstore/embedded/account.ts'
import { findBinaries } from '../../src/eventstore/embedded/binaries.ts'
import { reachableBinaries } from '../../src/eventstore/embedded/reachable-binaries.ts'
import { type Account, programEnvironment, runProgram } from '../../src/eventstore/embedded/run-program.ts'
import { databaseUrl, onServer } from './database.ts'
import { silent } from './silent.ts'
import { until } from './until.ts'

/** The files of a PostgreSQL, and the program that runs it. */
export type Cluster = {
  readonly account: Account | undefined
  readonly postgres: string
  readonly folder: string
}

/** A running PostgreSQL, which listens on a socket in a folder only. */
export type RunningServer = {
  /** All that the server has logged so far. */
  log(): string
  url(role: string, database: string): string
  stop(): Promise<void>
}

export type PlainServer = Pick<RunningServer, 'log' | 'stop'> & {
  /** Creates an empty database that belongs to a new role with these attributes, such as `superuser`. */
  newDatabase(name: string, attributes?: string): Promise<string>
}

/** Those in the folder `TEST_POSTGRES_PROGRAMS`, such as Debian's, else those of the embedded PostgreSQL. */
const programs = async (account: Account | undefined, folder: string) => {
  const given = process.env['TEST_POSTGRES_PROGRAMS']
  if (given) return { initdb: join(given, 'initdb'), postgres: join(given, 'postgres') }
  return reachableBinaries(await findBinaries(), account, folder)
}

/** Creates the files of a PostgreSQL in `cluster` in this folder. */
export const initCluster = async (folder: string): Promise<Cluster> => {
  const account = await chooseAccount(folder, silent)
  if (account) await chown(folder, account.uid, account.gid)
  const { initdb, postgres } = await programs(account, folder)
  const cluster = join(folder, 'cluster')
  const args = ['-D', cluster, '--username=postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--no-locale']
  const { code, stderr } = await runProgram(initdb, args, { account })
  if (code !== 0) throw new Error(`initdb failed: ${stderr}`)
  return { account, postgres, folder: cluster }
}

/** A folder that an account may enter for its sockets and files. */
export const newServerFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'plain-server-'))
  await chmod(folder, 0o755)
  return folder
}

/** Stops the server when its input ends, so that it does not outlive a test that is killed. */
const GUARDED = '"$@" & server=$!; cat; kill -INT $server; wait $server'

const end = async (child: ChildProcess) => {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.stdin!.end()
  await ended
}

/** Starts a server on these files, with its socket in `sockets`; `settings` are those of its command line. */
export const startCluster = async (
  { account, postgres, folder }: Cluster,
  sockets: string,
  settings: readonly string[] = [],
): Promise<RunningServer> => {
  const lines: string[] = []
  const own = ['listen_addresses=', ...settings].flatMap((setting) => ['-c', setting])
  const child = spawn('/bin/sh', ['-c', GUARDED, 'sh', postgres, '-D', folder, '-k', sockets, ...own], {
    ...account,
    cwd: '/',
    env: programEnvironment(),
    stdio: 'pipe',
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => void lines.push(text))
  const isReady = () => lines.some((text) => /ready to accept (?:read-only )?connections/.test(text))
  await until(() => isReady() || child.exitCode !== null)
  if (!isReady()) throw new Error(`the server does not start: ${lines.join('')}`)
  const url = (role: string, name: string) =>
    databaseUrl(`postgresql://${role}@localhost/?host=${encodeURIComponent(sockets)}&sslmode=disable`, name)
  return { log: () => lines.join(''), url, stop: () => end(child) }
}

/** Creates an empty database on a server, that belongs to a new role with these attributes. */
export const newDatabaseOn = async ({ url }: Pick<RunningServer, 'url'>, name: string, attributes = '') => {
  const admin = url('postgres', 'postgres')
  await onServer(admin, `create role "${name}" login ${attributes}`)
  await onServer(admin, `create database "${name}" owner "${name}"`)
  return url(name, name)
}

/** A PostgreSQL as operators have it, with its default settings. The test can read its log. */
export const startPlainServer = async (): Promise<PlainServer> => {
  const folder = await newServerFolder()
  const server = await startCluster(await initCluster(folder), folder)
  const stop = async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { log: server.log, newDatabase: (name, attributes) => newDatabaseOn(server, name, attributes), stop }
}
