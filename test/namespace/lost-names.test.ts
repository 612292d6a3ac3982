import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Value, ask, inTwoProcesses, lostUpdates, newNamespace, signIn } from '../engine/support/two-nodes.ts'
import type { Service } from '../fault/support/service.ts'

const test = suite('namespace: lost names')

type Read = { namespace: { displayName: string } }
type User = Awaited<ReturnType<typeof signIn>>

const newName =
  ({ token }: User) =>
  async (node: Service): Promise<Value> => {
    const path = `/v1/namespaces/${(await newNamespace(node, token)).slug}`
    return {
      set: (at, displayName) => ask(at, token, 'PATCH', path, { displayName }),
      get: async (at) => (await ask<Read>(at, token, 'GET', path)).namespace.displayName,
    }
  }

test('a namespace has the name that was answered last, whatever another node remembers', () =>
  inTwoProcesses(async (nodes) => assert.is(await lostUpdates(nodes, newName(await signIn(nodes[0]))), 0)))

test.run()
