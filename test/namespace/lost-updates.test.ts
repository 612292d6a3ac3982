import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Value, ask, inTwoProcesses, lostUpdates, newNamespace, signIn } from '../engine/support/two-nodes.ts'
import type { Service } from '../fault/support/service.ts'

const test = suite('namespace: lost updates')

type Made = { invite: { code: string } }
type Members = { members: { user: { id: string }; role: string }[] }
type Read = { namespace: { displayName: string } }

const aRole = async (node: Service): Promise<Value> => {
  const [admin, member] = [await signIn(node), await signIn(node)]
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

const aName = async (node: Service): Promise<Value> => {
  const { token } = await signIn(node)
  const path = `/v1/namespaces/${(await newNamespace(node, token)).slug}`
  return {
    set: (at, displayName) => ask(at, token, 'PATCH', path, { displayName }),
    get: async (at) => (await ask<Read>(at, token, 'GET', path)).namespace.displayName,
  }
}

test('a member has the role, and a namespace the name, that was answered last, whatever another node remembers', () =>
  inTwoProcesses(async (nodes) => {
    const roles = await lostUpdates(nodes, aRole)
    const names = await lostUpdates(nodes, aName)
    assert.equal({ roles, names }, { roles: 0, names: 0 })
  }))

test.run()
