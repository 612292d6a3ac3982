import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld } from '../../support/world.ts'

const test = suite('http: clients take turns at everything of which there is little')

const { node } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })

type Method = 'GET' | 'POST' | 'PUT'

/** A user at an address, with a trace. */
const newUser = async (remoteAddress: string) => {
  const ask = async (method: Method, url: string, body?: object, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await node.app.inject({ method, url, headers, remoteAddress, ...(body ? { payload: body } : {}) })
    assert.is(answer.statusCode, 200, `${method} ${url}: ${answer.body}`)
    return answer.json().data
  }
  const { session } = await ask('POST', '/v1/session', { deviceId: randomUUID() })
  const asUser = (method: Method, url: string, body?: object) => ask(method, url, body, session.token)
  const trace = `/v1/traces/${randomUUID()}`
  await asUser('PUT', trace, { title: 'found' })
  return { ask: asUser, trace }
}
type User = Awaited<ReturnType<typeof newUser>>

/** Longer than what is parsed on the event loop. */
const largeMessages = { messages: [{ externalId: 'm', role: 'user', textContent: 'long '.repeat(8_000) }] }

/** Requests that wait for few things: connections for each purpose, and threads. */
const requests: Readonly<Record<string, (user: User) => Promise<unknown>>> = {
  searches: ({ ask }) => ask('GET', '/v1/search?q=found'),
  timelines: ({ ask, trace }) => ask('GET', `${trace}/events`),
  'events of the log': ({ ask, trace }) => ask('GET', `${trace}/events/0`),
  'long lists': ({ ask, trace }) => ask('GET', `${trace}/messages`),
  'large bodies': ({ ask, trace }) => ask('POST', `${trace}/messages/batch`, largeMessages),
}

const MANY = 40
/** A client that takes turns comes after what was under way when it asked, and far before the last of another client. */
const SOON = 15

for (const [what, request] of Object.entries(requests))
  for (const [who, address] of [
    ['another net', '198.51.100.7'],
    ['the same net', '192.0.2.1'],
  ] as const)
    test(`${what}: a user in ${who} does not wait for all requests that another one has sent before`, async () => {
      const [greedy, other] = [await newUser('192.0.2.1'), await newUser(address)]
      await Promise.all([request(greedy), request(other)])
      const answered: User[] = []
      const send = (user: User) => request(user).then(() => answered.push(user))
      const all = Array.from({ length: MANY }, () => send(greedy))
      await Promise.all([...all, send(other)])
      const before = answered.indexOf(other)
      assert.ok(before < SOON, `${before} of ${MANY} requests were answered before`)
    })

test.run()
