import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, inTwoProcesses, lostUpdates, signIn } from '../engine/support/two-nodes.ts'

const test = suite('trace: lost updates')

type Messages = { messages: { textContent: string }[] }

test('a message is what was answered last, whatever another node remembers', () =>
  inTwoProcesses(async (nodes) => {
    const { token } = await signIn(nodes[0])
    const lost = await lostUpdates(nodes, async (node) => {
      const path = `/v1/traces/${randomUUID()}`
      await ask(node, token, 'PUT', path, {})
      return {
        set: (at, textContent) => ask(at, token, 'PUT', `${path}/messages/m`, { role: 'user', textContent }),
        get: async (at) => (await ask<Messages>(at, token, 'GET', `${path}/messages`)).messages[0]?.textContent,
      }
    })
    assert.is(lost, 0)
  }))

test.run()
