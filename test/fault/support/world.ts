import type { ChildProcess } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '../../../src/eventstore/embedded/postgres.ts'
import { allOf, serversOf } from '../../eventstore/embedded/support.ts'
import { type Proxy, newProxy } from '../../eventstore/log/support/proxy.ts'
import type { Disk } from './disk.ts'
import { giveCluster } from '../../support/cluster.ts'
import { logEnvironment } from '../../support/log-place.ts'
import type { Pair } from './two-nodes.ts'
import { type Service, howItEnded, launch, serveOn } from './service.ts'

/** A service with its database, both of which can be broken. */
export type World = {
  /** The environment variables by which commands reach the same database and log. */
  environment(): { readonly DATABASE_URL: string; readonly EVENTSTORE_URL: string }
  /** All nodes. */
  services(): readonly Service[]
  /** A node that answers requests now. */
  service(): Service
  /** Only in a world of two nodes. */
  readonly pair?: Pair
  readonly database: {
    readonly url: () => string
    postmaster(): Promise<number>
    processes(): Promise<number[]>
  }
  /** The network between the service and its database, if that is not embedded. */
  readonly proxy?: Proxy
  /** The disk of the database, if that has a small one of its own. */
  readonly disk?: Disk
  /** Starts the service again, after it has ended. */
  start(): Promise<void>
  /** Starts it, and does something to it during the start. Returns how it ended. */
  startInVain(work: (child: ChildProcess) => Promise<void>): Promise<number | string>
  close(): Promise<void>
}

export const databaseIn = (folder: string, url: () => string) => ({
  url,
  postmaster: async () => {
    const [pid] = await serversOf(folder)
    if (pid === undefined) throw new Error('there is no postmaster')
    return pid
  },
  processes: async () => (await allOf(folder)).map(({ pid }) => pid),
})

const worldOf = async (
  dataDir: string,
  env: Record<string, string>,
  rest: Pick<World, 'database' | 'proxy' | 'close'>,
): Promise<World> => {
  let service = await serveOn(dataDir, env)
  return {
    ...rest,
    environment: () => ({ DATABASE_URL: service.databaseUrl, ...logEnvironment(dataDir) }),
    services: () => [service],
    service: () => service,
    start: async () => void (service = await serveOn(dataDir, env)),
    startInVain: async (work) => {
      const child = launch(dataDir, env)
      const ended = howItEnded(child)
      await work(child)
      return ended
    },
    close: async () => {
      await service.end('SIGKILL')
      await rest.close()
    },
  }
}

/** A service with an embedded Postgres. */
export const embeddedWorld = async (folder: string, env: Record<string, string> = {}): Promise<World> => {
  const world: World = await worldOf(folder, env, {
    database: databaseIn(folder, () => world.service().databaseUrl),
    close: async () => {},
  })
  return world
}

/** The same on a small disk, of which the service leaves `reserveMb` free. */
export const worldOnDisk = async (disk: Disk, reserveMb: number): Promise<World> => ({
  ...(await embeddedWorld(disk.folder, { DISK_RESERVE_MB: String(reserveMb) })),
  disk,
})

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

/** A service that reaches its Postgres by a URL, through a network that can fail. */
export const remoteWorld = async (folder: string, env: Record<string, string> = {}): Promise<World> => {
  const [dataDir, serverDir] = [join(folder, 'data'), join(folder, 'server')]
  for (const each of [dataDir, serverDir]) await mkdir(each)
  await giveCluster(serverDir)
  const server = await startPostgres({ dataDir: serverDir, log: quiet })
  const proxy = await newProxy(server.url)
  const close = async () => {
    await proxy.close()
    await server.stop('immediate')
  }
  try {
    const database = databaseIn(serverDir, () => server.url)
    return await worldOf(dataDir, { DATABASE_URL: proxy.url, ...env }, { database, proxy, close })
  } catch (error) {
    await close()
    throw error
  }
}
