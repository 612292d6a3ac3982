import type { ChildProcess } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Proxy, newProxy } from '../../eventstore/log/support/proxy.ts'
import { type Double, startDouble } from '../../support/eventstoredb/server.ts'
import { eventStoreUrlOf } from '../../support/log-place.ts'
import { type Moments, newMoments } from './moments.ts'
import { type Copied, startCopied } from './older-copy.ts'
import { newRandom } from './random.ts'
import { type Service, howItEnded, launch, serveOn } from './service.ts'
import { killAll, standStill } from './standstill.ts'
import { type World, databaseIn } from './world.ts'

/** One of two nodes, with a network of its own to the database. Its database sessions have its name. */
export type Node = {
  readonly name: string
  /** Whether it can lead: build the read models, and do other work that only one node does. */
  readonly canLead: boolean
  readonly proxy: Proxy
  service(): Service
  hasEnded(): boolean
  isFrozen(): boolean
  freeze(): Promise<void>
  thaw(): void
  start(): Promise<void>
  startInVain(work: (child: ChildProcess) => Promise<void>): Promise<number | string>
}

/** The further parts of a world of two nodes. */
export type Pair = {
  readonly nodes: readonly Node[]
  readonly server: Copied
  readonly moments: Moments
  /** The double that holds the log, if it can be put back to an earlier moment. */
  readonly double?: Double
}

export const otherThan = ({ nodes }: Pair, node: Node): Node => nodes.find((one) => one !== node)!

type NodeOptions = {
  readonly name: string
  readonly folder: string
  readonly databaseUrl: string
  readonly moments: Moments
  readonly env: Readonly<Record<string, string>>
}

/** Settings by which summaries are due soon, so that the leading node has work. */
const EAGER = { SUMMARY_DEBOUNCE_MS: '300', SUMMARY_THRESHOLD: '3' }

const openNode = async ({ name, folder, databaseUrl, moments, env }: NodeOptions): Promise<Node> => {
  const dataDir = join(folder, name)
  await mkdir(dataDir)
  const proxy = await newProxy(databaseUrl)
  const environment = { DATABASE_URL: `${proxy.url}&application_name=${name}`, ...EAGER, ...env }
  let [frozen, ended] = [false, false]
  let service: Service | undefined
  const start = async () => {
    const started = await serveOn(dataDir, environment)
    ended = false
    void started.ended.then(() => (ended = true))
    service = { ...started, isFrozen: () => frozen, moments }
  }
  await start()
  return {
    name,
    canLead: !env.ROLES,
    proxy,
    service: () => service!,
    hasEnded: () => ended,
    isFrozen: () => frozen,
    freeze: async () => {
      frozen = true
      await standStill(async () => [service!.pid])
    },
    thaw: () => {
      frozen = false
      killAll([service!.pid], 'SIGCONT')
    },
    start,
    startInVain: async (work) => {
      const child = launch(dataDir, environment)
      const ended = howItEnded(child)
      await work(child)
      return ended
    },
  }
}

/** A log in a double of its own, or in the store of the run; the URL is empty if that is Postgres. */
const openPlace = async (folder: string): Promise<{ url: string; double?: Double }> => {
  const url = eventStoreUrlOf(folder) ?? ''
  if (url === '' || process.env.TEST_EVENTSTORE_URL) return { url }
  const double = await startDouble()
  return { url: double.url, double }
}

const worldOf = ({ nodes, server, moments, double }: Pair, eventStoreUrl: string, seed: number): World => {
  const random = newRandom(seed)
  const down = () => nodes.filter((node) => node.hasEnded())
  return {
    environment: () => ({ DATABASE_URL: server.url, EVENTSTORE_URL: eventStoreUrl }),
    database: databaseIn(server.dataDir, () => server.url),
    pair: { nodes, server, moments, ...(double ? { double } : {}) },
    services: () => nodes.map((node) => node.service()),
    service: () => random.pick(nodes.filter((node) => !node.isFrozen())).service(),
    start: async () => void (await Promise.all(down().map((node) => node.start()))),
    startInVain: (work) => down()[0]!.startInVain(work),
    close: async () => {
      await Promise.all(nodes.map((node) => node.service().end('SIGKILL')))
      await Promise.all(nodes.map(({ proxy }) => proxy.close()))
      await server.stop()
      await double?.stop()
    },
  }
}

/** Two nodes on one database that can be put back to an older copy. With some seeds the second node only answers requests. */
export const twoNodes = async (folder: string, seed: number): Promise<World> => {
  const moments = newMoments()
  const server = await startCopied(folder)
  const { url, double } = await openPlace(folder)
  const open = (name: string, env: Record<string, string>) =>
    openNode({ name, folder, databaseUrl: server.url, moments, env: { EVENTSTORE_URL: url, ...env } })
  const first = await open('first', {})
  const second = await open('second', seed % 3 === 0 ? { ROLES: 'api' } : {})
  return worldOf({ nodes: [first, second], server, moments, ...(double ? { double } : {}) }, url, seed)
}
