import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Value, ask, inTwoProcesses, lostUpdates, newNamespace, signIn } from '../engine/support/two-nodes.ts'
import type { Service } from '../fault/support/service.ts'

const test = suite('namespace: lost roles')

type Made = { invite: { code: string } }
type Members = { members: { user: { id: string }; role: string }[] }

type User = Awaited<ReturnType<typeof signIn>>

/** The role of a member in a namespace of its own. */
const newRole =
  (admin: User, member: User) =>
  async (node: Service): Promise<Value> => {
    const path = `/v1/namespaces/${(await newNamespace(node, admin.token)).slug}`
    const { invite } = await ask<Made>(node, admin.token, 'POST', `${path}/invites`, {})
    await ask(node, member.token, 'POST', `/v1/invites/${invite.code}/accept`)
    return {
      set: (at, role) => ask(at, admin.token, 'PATCH', `${path}/members/${member.userId}`, { role }),
      get: async (at) => {
        const { members } = await ask<Members>(at, admin.token, 'GET', `${path}/members`)
        return members.find(({ user }) => user.id === member.userId)?.role
      },
      values: ['admin', 'member'],
    }
  }

test('a member has the role that was answered last, whatever another node remembers', () =>
  inTwoProcesses(async (nodes) => {
    const [ada, bob] = [await signIn(nodes[0]), await signIn(nodes[1])]
    assert.is(await lostUpdates(nodes, newRole(ada, bob)), 0)
  }))

test.run()
