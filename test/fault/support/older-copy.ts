import { execFile, execFileSync } from 'node:child_process'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type EmbeddedPostgres, startPostgres } from '../../../src/eventstore/embedded/postgres.ts'
import { allOf } from '../../eventstore/embedded/support.ts'
import { giveCluster } from '../../support/cluster.ts'
import { onServer } from '../../support/database.ts'
import { killAll, standStill } from './standstill.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

/** A PostgreSQL that can be put back to an older copy of itself, at the same address. */
export type Copied = {
  readonly url: string
  readonly dataDir: string
  /** Makes a copy while the server is stopped. */
  copy(): Promise<void>
  /** Makes a copy of one moment under load: all processes of the server are stopped while `meanwhile` runs. */
  copyAlive(meanwhile: () => void): Promise<void>
  /** Kills the server, calls `meanwhile`, and starts the copy in its place. */
  putBack(meanwhile?: () => void): Promise<void>
  stop(): Promise<void>
}

/** The file that says that a server uses the folder. */
const isOfProcess = (name: string) => name === 'postmaster.pid' || name.startsWith('.s.PGSQL')

export const startCopied = async (folder: string): Promise<Copied> => {
  const dataDir = join(folder, 'server')
  await mkdir(dataDir)
  const [cluster, older] = [join(dataDir, 'postgres'), join(dataDir, 'older')]
  const start = () => startPostgres({ dataDir, log: quiet })
  await giveCluster(dataDir)
  let server: EmbeddedPostgres = await start()

  const copy = async () => {
    await server.stop()
    execFileSync('cp', ['-a', cluster, older]) // with owners and modes, on which the server insists
    server = await start()
  }
  const copyAlive = async (meanwhile: () => void) => {
    const pids = await standStill(async () => (await allOf(dataDir)).map(({ pid }) => pid))
    try {
      meanwhile()
      await rm(older, { recursive: true, force: true })
      await promisify(execFile)('cp', ['-a', cluster, older])
      for (const name of await readdir(older)) if (isOfProcess(name)) await rm(join(older, name))
    } finally {
      killAll(pids, 'SIGCONT')
    }
  }
  const putBack = async (meanwhile = () => {}) => {
    await server.stop('immediate')
    meanwhile()
    await rm(cluster, { recursive: true })
    await rename(older, cluster)
    server = await start()
  }
  return { url: server.url, dataDir, copy, copyAlive, putBack, stop: () => server.stop('immediate') }
}

/** The identity of the log in a PostgreSQL, and the position of its end. */
export const logIn = async (url: string): Promise<{ head: bigint; epoch: string }> => {
  const text = 'select epoch, (select max(last) from log.appends)::text as head from log.identity'
  const { epoch, head } = (await onServer(url, text)).rows[0] as { epoch: string; head: string }
  return { epoch, head: BigInt(head) }
}
