import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import Fastify from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { buildApp } from '../../../src/server/service/app.ts'
import { whenOver } from '../../../src/server/http/when-over.ts'
import { until } from '../../support/until.ts'
import { newWorld, signIn } from '../../support/world.ts'

const test = suite('http: what is held for answers')

const portOf = ({ server }: FastifyInstance) => (server.address() as AddressInfo).port

test('is released when the answer was sent or the client has left, and at once if that was before', async () => {
  const app = Fastify()
  const answers: ServerResponse[] = []
  app.get('/whole', async ({ raw: _ }, { raw }) => {
    answers.push(raw)
    return 'whole'
  })
  app.get('/never', ({ raw: _ }, { raw }) => void answers.push(raw))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const released: string[] = []
  const hold = (name: string) => {
    whenOver(answers.at(-1)!, () => released.push(`${name} 1`))
    whenOver(answers.at(-1)!, () => released.push(`${name} 2`))
  }

  await (await fetch(`http://127.0.0.1:${portOf(app)}/whole`)).text()
  await until(() => answers.at(-1)!.closed)
  hold('sent')
  assert.equal(released.splice(0), ['sent 1', 'sent 2'])

  const socket = connect(portOf(app), '127.0.0.1')
  socket.write('GET /never HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(2))
  await until(() => answers.length === 3)
  hold('the second of a connection')
  assert.equal(released, [])
  socket.resetAndDestroy()
  await until(() => released.length === 2)
  hold('left')
  assert.equal(released.slice(2), ['left 1', 'left 2'])
  await app.close()
})

const { node, close } = await newWorld()
const { service } = node

/** The request whose client leaves, and at which of its reads from the database: 0 for before the first. */
let leaving: { readonly at: number; reads: number; leave: () => Promise<void> } | undefined

/** A step of a request: its client leaves now if it is to, and the service has noticed before anything else happens. */
const step = async () => {
  if (leaving && leaving.reads++ === leaving.at) await leaving.leave()
}

const { rows, query } = service.reads
const reads: typeof service.reads = {
  ...service.reads,
  rows: async (...given) => {
    await step()
    return rows(...given)
  },
  query: async (build) => {
    await step()
    return query(build)
  },
}

/** What was opened and has not been closed: tasks of the thread that makes rows, and files that are to be cached. */
const open = new Set<object>()
const rowMaking: typeof service.rowMaking = {
  ...service.rowMaking,
  open: (...given) => {
    const opened = service.rowMaking.open(...given)
    open.add(opened)
    return {
      ...opened,
      close: () => {
        open.delete(opened)
        opened.close()
      },
    }
  },
}
const publicFiles: typeof service.publicFiles = {
  ...service.publicFiles,
  begin: (...given) => {
    const draft = service.publicFiles.begin(...given)
    open.add(draft)
    return {
      ...draft,
      drop: () => {
        open.delete(draft)
        draft.drop()
      },
    }
  },
}

const app = await buildApp({ ...service, reads, rowMaking, publicFiles })
/** The answer to the request that is under way. */
let answer: ServerResponse | undefined
app.addHook('preHandler', async (_request, { raw }) => {
  answer = raw
  await step()
})
await app.listen({ host: '127.0.0.1', port: 0 })
test.after(async () => {
  await app.close()
  await close()
})

const { token, namespaceSlug, send, newTrace } = await signIn(node)
const { externalId, url, page } = await newTrace({ visibility: 'public' })
const put = (order: number, textContent: string) =>
  send('PUT', `${url}/messages/m${order}`, { role: 'user', order, textContent })
for (let i = 0; i < 5; i++) await put(i, 'word '.repeat(100_000))
await put(2, 'changed')

/** What is held for all answers together. */
const held = () => [...Object.values(service.permits).map((kind) => ('held' in kind ? kind.held() : 0)), open.size]
const waiting = () => Object.values(service.permits).some((kind) => 'waiting' in kind && kind.waiting() > 0)

/** Sends a request whose client leaves at this step; returns the whole answer if the request has fewer steps. */
const leaveAt = async (request: string, at: number): Promise<string | undefined> => {
  const socket = connect(portOf(app), '127.0.0.1').on('error', () => {})
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let hasLeft = false
  leaving = {
    at,
    reads: 0,
    leave: async () => {
      hasLeft = true
      socket.resetAndDestroy()
      await until(() => answer!.closed)
    },
  }
  socket.write(request)
  await closed
  return hasLeft ? undefined : Buffer.concat(chunks).toString()
}

const requestOf = (line: string, body?: object) => {
  const text = body && JSON.stringify(body)
  const ofBody = text ? ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`] : []
  const headers = ['host: localhost', 'connection: close', ...ofBody]
  return [`${line} HTTP/1.1`, ...headers, '', text ?? ''].join('\r\n')
}
/** A request of a member of the namespace. */
const ofMember = (line: string, body?: object) =>
  requestOf(line, body).replace('\r\n', `\r\nauthorization: Bearer ${token}\r\n`)

const large = { role: 'user', order: 9, textContent: 'x'.repeat(600_000) }
const all = {
  'messages of a session': requestOf(`GET ${url}/messages?includeParts=true`),
  'messages of its past': ofMember(`GET ${url}/messages?revision=4`),
  'messages that match': requestOf(`GET ${url}/messages/matches?q=word`),
  'sessions of a namespace': ofMember(`GET /v1/namespaces/${namespaceSlug}/traces`),
  'differences between two revisions': ofMember(`GET ${url}/diff?from=2`),
  'an export as Markdown': requestOf(`GET ${url}/export?format=md`),
  'an export as HTML': requestOf(`GET ${url}/export?format=html`),
  'an export as JSON': requestOf(`GET ${url}/export?format=json`),
  'an export of its past': ofMember(`GET ${url}/export?format=md&revision=4`),
  'the page of a session': requestOf(`GET ${page}`),
  'rows at places': requestOf(`GET ${page}/-/rows?from=0`),
  'rows that have changed': requestOf(`GET ${page}/-/rows?changedSince=3`),
  'changes of files': requestOf(`GET ${page}/-/changes`),
  'one message as a page': requestOf(`GET ${page}/-/message/m3`),
  'one message': requestOf(`GET ${page}/-/message/m3?fragment`),
  'a part of a message': requestOf(`GET ${page}/-/message/m3?part=0`),
  'a large answer': requestOf('POST /v1/query', { query: 'traces:getMessages', args: { externalId } }),
  'a large message that is stored': ofMember(`PUT ${url}/messages/large`, large),
}

for (const [what, request] of Object.entries(all))
  test(`${what}: nothing is held for a client that leaves, whenever that is`, async () => {
    let at = 0
    let whole: string | undefined
    for (; whole === undefined; at++) {
      whole = await leaveAt(request, at)
      await until(() => !waiting() && held().every((sum) => sum === 0))
    }
    assert.match(whole, 'HTTP/1.1 200 OK')
    assert.ok(at > 1, `${at} steps`)
  })

test('nothing is held for a client that leaves while it opens a WebSocket', async () => {
  const ofSocket = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13']
  const key = `sec-websocket-key: ${Buffer.alloc(16).toString('base64')}`
  const upgrade = `GET /v1/realtime HTTP/1.1\r\nhost: localhost\r\n${[...ofSocket, key].join('\r\n')}\r\n\r\n`
  assert.is(await leaveAt(upgrade, 0), undefined)
  await until(() => held().every((sum) => sum === 0))
  assert.equal(service.connections.counts(), { connections: 0, subscriptions: 0 })
})

test.run()
