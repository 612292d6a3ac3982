import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, inTwoProcesses, lostUpdates, newNamespace, signIn } from '../engine/support/two-nodes.ts'

const test = suite('session: lost updates')

type Sessions = { sessions: { current: boolean; namespaceId: string }[] }

test('a session is where it was switched to last, whatever another node remembers', () =>
  inTwoProcesses(async (nodes) => {
    const lost = await lostUpdates(nodes, async (node) => {
      const { token } = await signIn(node)
      const [one, two] = [await newNamespace(node, token), await newNamespace(node, token)]
      return {
        set: (at, namespaceId) => ask(at, token, 'POST', '/v1/session/switch', { namespaceId }),
        get: async (at) => {
          const { sessions } = await ask<Sessions>(at, token, 'GET', '/v1/sessions')
          return sessions.find(({ current }) => current)?.namespaceId
        },
        values: [one.id, two.id],
      }
    })
    assert.is(lost, 0)
  }))

test.run()
