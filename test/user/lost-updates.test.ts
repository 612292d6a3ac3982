import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, inTwoProcesses, lostUpdates, signIn } from '../engine/support/two-nodes.ts'

const test = suite('user: lost updates')

type Read = { user: { displayName: string } }

test('a user has the name that was answered last, whatever another node remembers', () =>
  inTwoProcesses(async (nodes) => {
    const lost = await lostUpdates(nodes, async (node) => {
      const { token } = await signIn(node)
      return {
        set: (at, displayName) => ask(at, token, 'PATCH', '/v1/user', { displayName }),
        get: async (at) => (await ask<Read>(at, token, 'GET', '/v1/user')).user.displayName,
      }
    })
    assert.is(lost, 0)
  }))

test.run()
