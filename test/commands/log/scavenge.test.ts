import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openEventStoreLog } from '../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import { type Cluster, startCluster } from '../../support/eventstoredb/cluster.ts'
import { type Double, startDouble } from '../../support/eventstoredb/server.ts'
import { anAppend } from '../../eventstore/log/support/events.ts'
import { run } from '../support/user.ts'

const test = suite<{ cluster: Cluster }>('`log scavenge`')
test.before.each(async (scene) => void (scene.cluster = await startCluster()))
test.after.each(({ cluster }) => cluster.stop())

const scavenge = (url: string) => run(['log', 'scavenge', '--url', url], {})

/** Whether the files of a node would still have a text. */
const has = ({ store }: Double, text: string) => store.all().some(({ data }) => Buffer.from(data).includes(text))

/** A log with an erased text. */
const eraseText = async (url: string) => {
  const log = openEventStoreLog({ url })
  await log.append('a', 'none', anAppend('"a secret"', '2'))
  await log.truncate('a', 1n)
  await log.close()
}

const lines = (text: string) => text.trimEnd().split('\n')

test('scavenges every node of the cluster, with a line for each', async ({ cluster: { nodes, url } }) => {
  await eraseText(url)
  assert.equal(nodes.map((node) => has(node, 'a secret')), [true, true, true]) // prettier-ignore
  const { how, out, err } = await scavenge(url)
  assert.equal([how, err], [0, ''])
  assert.is(lines(out).length, 3)
  for (const { port } of nodes) assert.match(out, new RegExp(`^127.0.0.1:${port}: started the scavenge \\S+$`, 'm'))
  assert.equal(nodes.map((node) => has(node, 'a secret')), [false, false, false]) // prettier-ignore
})

test('finds all nodes by the gossip of one, also those that are not in the URL', async ({ cluster: { nodes } }) => {
  assert.is((await scavenge(nodes[1]!.url)).how, 0)
  for (const { faults } of nodes) assert.is(faults.count('scavenge'), 1)
})

test('fails if a node does not answer, and scavenges the others', async ({ cluster: { nodes, url } }) => {
  await eraseText(url)
  await nodes[2]!.stop()
  const { how, out, err } = await scavenge(url)
  assert.is(how, 1)
  assert.is(lines(out).length, 3)
  assert.match(out, `127.0.0.1:${nodes[2]!.port}: not scavenged: it cannot be reached`)
  assert.match(err, 'stay on the disks of 1 of 3 nodes')
  assert.equal(nodes.map((node) => has(node, 'a secret')), [false, false, true]) // prettier-ignore
})

test('a node that gossip calls dead, or that no gossip knows but the URL has, is one that did not answer', async ({
  cluster,
}) => {
  const [first, second, third] = cluster.nodes as [Double, Double, Double]
  await third.stop()
  cluster.bury(third)
  assert.match((await scavenge(first.url)).out, `127.0.0.1:${third.port}: not scavenged`)
  for (const { node } of [first, second]) node.members = node.members!.filter(({ port }) => port !== third.port)
  assert.is((await scavenge(first.url)).how, 0, 'nothing says that there was another')
  const { how, out } = await scavenge(cluster.url)
  assert.is(how, 1)
  assert.match(out, `127.0.0.1:${third.port}: not scavenged`)
})

test('a scavenge that was running before is not one of what was erased since', async ({ cluster: { nodes, url } }) => {
  nodes[0]!.node.isScavenging = true
  const { how, out } = await scavenge(url)
  assert.is(how, 1)
  assert.match(out, /: the scavenge running was running already, and leaves what was erased since it began/)
})

test('a server alone is scavenged at the address that was given', async () => {
  const double = await startDouble()
  double.node.members = [{ port: 1, isLeader: true, isAlive: true }] // an address inside of its container, for instance
  const { how, out } = await scavenge(double.url)
  assert.is(how, 0)
  assert.match(out, `127.0.0.1:${double.port}: started the scavenge`)
  await double.stop()
})

test('without a server, or with a wrong URL, the exit code says so', async () => {
  assert.is((await run(['log', 'scavenge'], {})).how, 2)
  assert.is((await scavenge('http://127.0.0.1:1')).how, 1)
})

test.run()
