import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { locks } from '../../src/eventstore/engine/schema.ts'
import { inFolder } from '../eventstore/embedded/support.ts'
import { freshDatabase, onServer } from '../support/database.ts'
import { logEnvironment } from '../support/log-place.ts'
import { until } from '../support/until.ts'
import { newBalanced } from './support/balancer.ts'
import { nextVersionIn } from './support/next-version.ts'
import { holderOf, schema } from './support/nodes.ts'
import { freeze, thaw } from './support/pair.ts'
import { type Service, serveOn } from './support/service.ts'
import { assertWhole, moreBatches, newWriter } from './support/writers.ts'

const test = suite('three nodes behind a balancer')

const WRITERS = 3
const MORE = 10

type Scene = {
  /** Starts a node, whose database sessions have its name. */
  open(name: string, env?: Record<string, string>, program?: string): Promise<Service>
  /** Ends a node, which leaves the balancer's list then, as one does that is not healthy. */
  end(node: Service, signal: NodeJS.Signals): Promise<void>
  /** The node that leads the projections. */
  leader(): Promise<Service>
  /** Waits until each client has written more, through whichever nodes answer. */
  written(): Promise<unknown>
  folder: string
}

const inScene = (names: Readonly<Record<string, string>>, work: (scene: Scene) => Promise<void>) => () =>
  inFolder(async (folder) => {
    const { url, drop } = await freshDatabase()
    const nodes = new Map<string, Service>()
    const urlFor = (name: string) => {
      const named = new URL(url)
      named.searchParams.set('application_name', name)
      return named.href
    }
    const open: Scene['open'] = async (name, env = {}, program) => {
      const dataDir = join(folder, name)
      await mkdir(dataDir, { recursive: true })
      const node = await serveOn(dataDir, { DATABASE_URL: urlFor(name), ...logEnvironment(url), ...env }, program)
      nodes.set(name, node)
      return node
    }
    const end: Scene['end'] = async (node, signal) => {
      await node.end(signal)
      for (const [name, other] of nodes) if (other === node) nodes.delete(name)
    }
    const leader = () =>
      until(async () => {
        const holder = await holderOf(url, locks.runner(schema))
        const text = 'select application_name as name from pg_stat_activity where pid = $1'
        const { rows } = holder ? await onServer(url, text, [holder.pid]) : { rows: [] }
        return nodes.get(String(rows[0]?.['name']))
      })
    try {
      for (const [name, roles] of Object.entries(names)) await open(name, { ROLES: roles })
      const answering = () =>
        [...nodes].filter(([name]) => names[name]?.includes('api') ?? true).map(([, node]) => node)
      const token = await answering()[0]!.signIn('device')
      const balanced = Array.from({ length: WRITERS }, () => newBalanced(answering))
      const writers = balanced.map((service) => newWriter(() => service, token))
      const written = () => moreBatches(writers, MORE)
      await written()
      await work({ open, end, leader, written, folder })
      await written()
      await Promise.all(writers.map(({ stop }) => stop()))
      for (const node of answering()) for (const writer of writers) await assertWhole(node, token, writer)
      const longest = `the longest refusal: ${Math.round(Math.max(...balanced.map(({ longestMs }) => longestMs())))} ms`
      assert.not.ok(
        balanced.some(({ wasLate }) => wasLate()),
        longest,
      )
      console.log(longest)
    } finally {
      await Promise.all([...nodes.values()].map((node) => node.end('SIGKILL')))
      await drop()
    }
  })

const ALL = 'api,projector,worker'

test(
  'no write is lost, or refused for long, when the leader is killed, frozen, and upgraded',
  inScene({ first: ALL, second: ALL, third: ALL }, async ({ open, end, leader, written, folder }) => {
    await end(await leader(), 'SIGKILL')
    await written()
    await open('fourth')

    const frozen = await leader()
    freeze(frozen)
    await until(async () => (await leader()) !== frozen)
    await written()
    thaw(frozen)

    const program = await nextVersionIn(join(folder, 'next'))
    await open('upgraded', {}, program)
    await end(await leader(), 'SIGTERM')
    await written()
  }),
)

test(
  'nor when the projector that leads is killed, beside another one',
  inScene({ one: 'projector', other: 'projector', front: 'api' }, async ({ end, leader, written }) => {
    await end(await leader(), 'SIGKILL')
    await written()
  }),
)

test.run()
