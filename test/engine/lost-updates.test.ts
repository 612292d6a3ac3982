import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../embedded/support.ts'
import { type Service, serveOn } from '../fault/support/service.ts'
import { freshDatabase } from '../support/database.ts'
import { logEnvironment } from '../support/log-place.ts'

/** Two processes of one service, and clients that write to the one what the other does not remember. */
const test = suite('engine: lost updates')

const ROUNDS = 500
const LANES = 50

const inLanes = async (work: (round: number) => Promise<number>) => {
  const lane = async (_: unknown, i: number) => {
    let lost = 0
    for (let round = i; round < ROUNDS; round += LANES) lost += await work(round)
    return lost
  }
  return (await Promise.all(Array.from({ length: LANES }, lane))).reduce((sum, lost) => sum + lost, 0)
}

const ask = async (node: Service, token: string, method: string, path: string, body?: unknown) => {
  const { status, data, error } = await node.call(method, path, { token, body })
  assert.is(status, 200, `${method} ${path}: ${JSON.stringify(error)}`)
  return data as unknown
}

const signIn = async (node: Service) => {
  const { data } = await node.call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
  return (data as { session: { token: string; userId: string; namespaceId: string } }).session
}

const newNamespace = async (node: Service, token: string) => {
  const slug = `team-${randomUUID().slice(0, 13)}`
  const data = await ask(node, token, 'POST', '/v1/namespaces', { slug, displayName: 'Team' })
  return (data as { namespace: { id: string; slug: string } }).namespace
}

/** One value that is kept in one stream: it can be set and read at each node. */
type Value = {
  readonly set: (node: Service, value: string) => Promise<unknown>
  readonly get: (node: Service) => Promise<string | undefined>
  /** Two different ones for a round. */
  readonly values?: (round: number) => readonly [string, string]
}

const kinds: Readonly<Record<string, (node: Service) => Promise<Value>>> = {
  messages: async (node) => {
    const { token } = await signIn(node)
    const path = `/v1/traces/${randomUUID()}`
    await ask(node, token, 'PUT', path, {})
    return {
      set: (at, textContent) => ask(at, token, 'PUT', `${path}/messages/m`, { role: 'user', textContent }),
      get: async (at) =>
        ((await ask(at, token, 'GET', `${path}/messages`)) as { messages: { textContent: string }[] }).messages[0]
          ?.textContent,
    }
  },
  roles: async (node) => {
    const [admin, member] = [await signIn(node), await signIn(node)]
    const path = `/v1/namespaces/${(await newNamespace(node, admin.token)).slug}`
    const made = await ask(node, admin.token, 'POST', `${path}/invites`, {})
    await ask(node, member.token, 'POST', `/v1/invites/${(made as { invite: { code: string } }).invite.code}/accept`)
    type Members = { members: { user: { id: string }; role: string }[] }
    return {
      set: (at, role) => ask(at, admin.token, 'PATCH', `${path}/members/${member.userId}`, { role }),
      get: async (at) =>
        ((await ask(at, admin.token, 'GET', `${path}/members`)) as Members).members.find(
          ({ user }) => user.id === member.userId,
        )?.role,
      values: (round) => (round % 2 === 0 ? ['admin', 'member'] : ['member', 'admin']),
    }
  },
  'names of namespaces': async (node) => {
    const { token } = await signIn(node)
    const path = `/v1/namespaces/${(await newNamespace(node, token)).slug}`
    return {
      set: (at, displayName) => ask(at, token, 'PATCH', path, { displayName }),
      get: async (at) =>
        ((await ask(at, token, 'GET', path)) as { namespace: { displayName: string } }).namespace.displayName,
    }
  },
  'names of users': async (node) => {
    const { token } = await signIn(node)
    return {
      set: (at, displayName) => ask(at, token, 'PATCH', '/v1/user', { displayName }),
      get: async (at) =>
        ((await ask(at, token, 'GET', '/v1/user')) as { user: { displayName: string } }).user.displayName,
    }
  },
  'active namespaces of sessions': async (node) => {
    const { token } = await signIn(node)
    const ids = [(await newNamespace(node, token)).id, (await newNamespace(node, token)).id] as const
    type Sessions = { sessions: { current: boolean; namespaceId: string }[] }
    return {
      set: (at, namespaceId) => ask(at, token, 'POST', '/v1/session/switch', { namespaceId }),
      get: async (at) =>
        ((await ask(at, token, 'GET', '/v1/sessions')) as Sessions).sessions.find(({ current }) => current)
          ?.namespaceId,
      values: (round) => (round % 2 === 0 ? ids : [ids[1], ids[0]]),
    }
  },
}

const byRound = (round: number) => [`x ${round}`, `y ${round}`] as const

type Nodes = readonly [Service, Service]

/** Both ways in turn: one of the nodes builds the read models and so hears of everything first. */
const inTurn = ([one, other]: Nodes, round: number): Nodes => (round % 2 === 0 ? [one, other] : [other, one])

/** The first node has said X, the second one Y; the first one is asked for X again, which it may still remember. */
const newRound = (nodes: Nodes, values: readonly Value[]) => async (round: number) => {
  const [one, other] = inTurn(nodes, round)
  const { set, get, values: valuesOf = byRound } = values[round % LANES]!
  const [x, y] = valuesOf(round)
  let lost = 0
  await set(one, x)
  await set(other, y)
  if (round % 5 === 0 && (await get(one)) !== y) lost++
  await set(one, x)
  if ((await get(round % 3 === 0 ? one : other)) !== x) lost++
  return lost
}

/** A slug that one node has just called unknown is made at the other: is it still unknown, is it still free? */
const newSlugRound = (nodes: Nodes, tokens: readonly [string, string]) => async (round: number) => {
  const [one, other] = inTurn(nodes, round)
  const slug = `slug-${randomUUID().slice(0, 13)}`
  const body = { slug, displayName: 'One' }
  const status = async (node: Service, token: string, method: string, path: string, of: object) =>
    (await node.call(method, path, { token, body: of })).status
  const rename = () => status(one, tokens[0], 'PATCH', `/v1/namespaces/${slug}`, { displayName: 'Two' })
  assert.is(await rename(), 404)
  assert.is(await status(other, tokens[0], 'POST', '/v1/namespaces', body), 200)
  const renamed = await rename()
  const taken = await status(one, tokens[1], 'POST', '/v1/namespaces', body)
  return (renamed === 200 ? 0 : 1) + (taken === 400 ? 0 : 1)
}

test('what one node has answered is not undone by what the other remembers', async () => {
  const database = await freshDatabase()
  await inFolder(async (folder) => {
    const env = { DATABASE_URL: database.url, ...logEnvironment(database.url), LOG_LEVEL: 'warn' }
    const nodes = await Promise.all([serveOn(folder, env), serveOn(folder, env)])
    try {
      const lost: Record<string, number> = {}
      for (const [name, newValue] of Object.entries(kinds)) {
        const values = await Promise.all(Array.from({ length: LANES }, (_, i) => newValue(nodes[i % 2]!)))
        lost[name] = await inLanes(newRound(nodes, values))
      }
      const tokens = [(await signIn(nodes[0])).token, (await signIn(nodes[1])).token] as const
      lost.slugs = await inLanes(newSlugRound(nodes, tokens))
      assert.equal(lost, Object.fromEntries(Object.keys(lost).map((name) => [name, 0])))
    } finally {
      await Promise.all(nodes.map((node) => node.end('SIGTERM')))
      await database.drop()
    }
  })
})

test.run()
