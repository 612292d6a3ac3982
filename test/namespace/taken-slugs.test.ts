import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Nodes, call, inTwoProcesses, lostInRounds, signIn } from '../engine/support/two-nodes.ts'
import type { Service } from '../fault/support/service.ts'

const test = suite('namespace: taken slugs')

/** How often a slug that one node has just called unknown, and the other has given away, is still unknown or free. */
const wrongSlugs = async (nodes: Nodes): Promise<number> => {
  const [ada, eve] = [await signIn(nodes[0]), await signIn(nodes[1])]
  return lostInRounds(nodes, async ([one, other]) => {
    const slug = `slug-${randomUUID().slice(0, 13)}`
    const status = async (node: Service, { token }: typeof ada, method: string, path: string, body: object) =>
      (await call(node, method, path, { token, body })).status
    const create = (node: Service, user: typeof ada) =>
      status(node, user, 'POST', '/v1/namespaces', { slug, displayName: 'One' })
    const rename = () => status(one, ada, 'PATCH', `/v1/namespaces/${slug}`, { displayName: 'Two' })
    assert.is(await rename(), 404)
    // One that was not answered in time may have been stored, and is taken when it is asked for again.
    assert.ok([200, 400].includes(await create(other, ada)))
    const [renamed, taken] = [await rename(), await create(one, eve)]
    return (renamed === 200 ? 0 : 1) + (taken === 400 ? 0 : 1)
  })
}

test('a slug that one node has just called unknown is known, and taken, once another has given it away', () =>
  inTwoProcesses(async (nodes) => assert.is(await wrongSlugs(nodes), 0)))

test.run()
