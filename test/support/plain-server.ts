import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chooseAccount } from '../../src/eventstore/embedded/account.ts'
import { findBinaries } from '../../src/eventstore/embedded/binaries.ts'
import { reachableBinaries } from '../../src/eventstore/embedded/reachable-binaries.ts'
import { programEnvironment, runProgram } from '../../src/eventstore/embedded/run-program.ts'
import { databaseUrl, onServer } from './database.ts'
import { silent } from './silent.ts'
import { until } from './until.ts'

export type PlainServer = {
  /** All that the server has logged so far. */
  log(): string
  /** Creates an empty database that belongs to a new role with these attributes, such as `superuser`. */
  newDatabase(name: string, attributes?: string): Promise<string>
  stop(): Promise<void>
}

const initCluster = async (folder: string) => {
  const account = await chooseAccount(folder, silent)
  if (account) await chown(folder, account.uid, account.gid)
  const { initdb, postgres } = await reachableBinaries(await findBinaries(), account, folder)
  const cluster = join(folder, 'cluster')
  const args = ['-D', cluster, '--username=postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--no-locale']
  const { code, stderr } = await runProgram(initdb, args, { account })
  if (code !== 0) throw new Error(`initdb failed: ${stderr}`)
  return { account, postgres, cluster }
}

/** Stops the server when its input ends, so that it does not outlive a test that is killed. */
const GUARDED = '"$@" & server=$!; cat; kill -INT $server; wait $server'

const startOn = async (folder: string): Promise<{ child: ChildProcess; lines: string[] }> => {
  const { account, postgres, cluster } = await initCluster(folder)
  const lines: string[] = []
  const args = ['-D', cluster, '-k', folder, '-c', 'listen_addresses=']
  const child = spawn('/bin/sh', ['-c', GUARDED, 'sh', postgres, ...args], {
    ...account,
    cwd: '/',
    env: programEnvironment(),
    stdio: 'pipe',
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => void lines.push(text))
  await until(() => lines.some((text) => /ready to accept connections|FATAL/.test(text)))
  if (lines.join('').includes('FATAL')) throw new Error(`the server does not start: ${lines.join('')}`)
  return { child, lines }
}

/** A PostgreSQL as operators have it, with its default settings. The test can read its log. */
export const startPlainServer = async (): Promise<PlainServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'plain-server-'))
  await chmod(folder, 0o755)
  const { child, lines } = await startOn(folder)
  const urlOf = (role: string, name: string) =>
    databaseUrl(`postgresql://${role}@localhost/?host=${encodeURIComponent(folder)}&sslmode=disable`, name)
  const newDatabase = async (name: string, attributes = '') => {
    const admin = urlOf('postgres', 'postgres')
    await onServer(admin, `create role "${name}" login ${attributes}`)
    await onServer(admin, `create database "${name}" owner "${name}"`)
    return urlOf(name, name)
  }
  const stop = async () => {
    const ended = once(child, 'exit')
    child.stdin!.end()
    await ended
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { log: () => lines.join(''), newDatabase, stop }
}
