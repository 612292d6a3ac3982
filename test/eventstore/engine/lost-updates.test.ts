import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { App } from '../../support/open-app.ts'
import { openTwoNodes } from '../../support/two-nodes.ts'
import { runs } from '../../support/runs.ts'
import { type Caller, type Person, callerOf, signIn } from '../../support/world.ts'

const test = suite('engine: lost updates')
const { nodes } = await openTwoNodes(test)

/** Without the check that a state is the newest (`assertNewest`), 100 rounds of each value lost 15 updates. */
const ROUNDS = runs(50)
const LANES = 25

/** What an answer of 200 of this node holds. */
const ask = <Data>(node: App, { token }: Person, ...asked: Parameters<Caller['send']>): Promise<Data> =>
  callerOf(node, token).send<Data>(...asked)

/** Adds up what is lost in all rounds, many of them at once; each node is the first in half of them. */
const lostInRounds = async (work: (one: App, other: App, round: number) => Promise<number>): Promise<number> => {
  const lane = async (_: unknown, first: number) => {
    let lost = 0
    for (let round = first; round < ROUNDS; round += LANES)
      lost += await work(nodes[round % 2]!, nodes[1 - (round % 2)]!, round)
    return lost
  }
  return (await Promise.all(Array.from({ length: LANES }, lane))).reduce((sum, lost) => sum + lost, 0)
}

/** One value that is kept in one stream: it can be set and read at each node. */
type Value = {
  readonly set: (node: App, value: string) => Promise<unknown>
  readonly get: (node: App) => Promise<string | undefined>
  /** What it is set to; otherwise any text will do. */
  readonly values?: readonly [string, string]
}

const newMessage = async (node: App): Promise<Value> => {
  const ada = await signIn(node)
  const { url: path } = await ada.newTrace()
  type Read = { messages: { textContent: string }[] }
  return {
    set: (at, textContent) => ask(at, ada, 'PUT', `${path}/messages/m`, { role: 'user', textContent }),
    get: async (at) => (await ask<Read>(at, ada, 'GET', `${path}/messages`)).messages[0]?.textContent,
  }
}

const newUserName = async (node: App): Promise<Value> => {
  const ada = await signIn(node)
  type Read = { user: { displayName: string } }
  return {
    set: (at, displayName) => ask(at, ada, 'PATCH', '/v1/user', { displayName }),
    get: async (at) => (await ask<Read>(at, ada, 'GET', '/v1/user')).user.displayName,
  }
}

/** The namespace that a session is in. */
const newSession = async (node: App): Promise<Value> => {
  const ada = await signIn(node)
  const [one, two] = [await ada.newTeam(), await ada.newTeam()]
  type Read = { sessions: { current: boolean; namespaceId: string }[] }
  return {
    set: (at, namespaceId) => ask(at, ada, 'POST', '/v1/session/switch', { namespaceId }),
    get: async (at) =>
      (await ask<Read>(at, ada, 'GET', '/v1/sessions')).sessions.find(({ current }) => current)?.namespaceId,
    values: [one.id, two.id],
  }
}

const newNamespaceName = async (node: App): Promise<Value> => {
  const ada = await signIn(node)
  const path = `/v1/namespaces/${(await ada.newTeam()).slug}`
  type Read = { namespace: { displayName: string } }
  return {
    set: (at, displayName) => ask(at, ada, 'PATCH', path, { displayName }),
    get: async (at) => (await ask<Read>(at, ada, 'GET', path)).namespace.displayName,
  }
}

/** The role of a member of a namespace. */
const newRole = async (node: App): Promise<Value> => {
  const [ada, bob] = [await signIn(node), await signIn(node)]
  const { slug } = await ada.newTeam()
  await ada.admit(slug, bob)
  const path = `/v1/namespaces/${slug}`
  type Read = { members: { user: { id: string }; role: string }[] }
  return {
    set: (at, role) => ask(at, ada, 'PATCH', `${path}/members/${bob.userId}`, { role }),
    get: async (at) =>
      (await ask<Read>(at, ada, 'GET', `${path}/members`)).members.find(({ user }) => user.id === bob.userId)?.role,
    values: ['admin', 'member'],
  }
}

/**
 * How often a value is not what it was set to last: X by one node, Y by the other, X again by the one, which may still
 * remember the first X.
 */
const lostUpdates = async (newValue: (node: App) => Promise<Value>): Promise<number> => {
  const all = await Promise.all(Array.from({ length: LANES }, (_, i) => newValue(nodes[i % 2]!)))
  return lostInRounds(async (one, other, round) => {
    const { set, get, values = [`x ${round}`, `y ${round}`] } = all[round % LANES]!
    const [x, y] = Math.floor(round / LANES) % 2 === 0 ? values : values.toReversed()
    let lost = 0
    await set(one, x!)
    await set(other, y!)
    if (round % 5 === 0 && (await get(one)) !== y) lost++
    await set(one, x!)
    if ((await get(round % 3 === 0 ? one : other)) !== x) lost++
    return lost
  })
}

for (const [what, newValue] of Object.entries({
  'the text of a message': newMessage,
  'the name of a user': newUserName,
  'the namespace of a session': newSession,
  'the name of a namespace': newNamespaceName,
  'the role of a member': newRole,
}))
  test(`${what} is what was answered last, whatever another node has cached`, async () =>
    assert.is(await lostUpdates(newValue), 0))

test('a slug that one node has just reported as unknown is found once another node has assigned it', async () => {
  const [ada, eve] = [await signIn(nodes[0]), await signIn(nodes[1])]
  const wrong = await lostInRounds(async (one, other) => {
    const slug = `slug-${randomUUID().slice(0, 13)}`
    const create = async (node: App, { token }: Person) =>
      (await callerOf(node, token).ask('POST', '/v1/namespaces', { slug, displayName: 'One' })).status
    const rename = async () =>
      (await callerOf(one, ada.token).ask('PATCH', `/v1/namespaces/${slug}`, { displayName: 'Two' })).status
    assert.is(await rename(), 404)
    // One that was not answered in time may have been stored, and is taken when it is asked for again.
    assert.ok([200, 400].includes(await create(other, ada)))
    const [renamed, taken] = [await rename(), await create(one, eve)]
    return (renamed === 200 ? 0 : 1) + (taken === 400 ? 0 : 1)
  })
  assert.is(wrong, 0)
})

test.run()
