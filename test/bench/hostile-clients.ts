/**
 * Clients that attack a service for as long as they are asked to: a process of its own, so that the time it takes is not taken for the
 * service's. Arguments: the address of the service, the name of the attack, and for how many milliseconds. Tells its parent when all
 * is prepared, and at the end how many bytes were accepted.
 */
import { setTimeout } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { batches, trace } from './hostile-bodies.ts'
import { openConnection, openSocket, requestBytes } from './http.ts'

const [url = '', name = '', ms = '0'] = process.argv.slice(2)
const MB = 1_000_000
/** Another net than that of the people who are measured. */
const NET = '127.0.0.2'
const TRIES = 20

const json = (value: unknown) => JSON.stringify(value)
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

let until = Infinity
const isOver = () => performance.now() > until
let accepted = 0

const ask = async (request: Buffer) => {
  const connection = await openConnection(url, NET)
  try {
    const answer = await connection.send(request)
    if (answer.status === 200 && !request.subarray(0, 3).equals(Buffer.from('GET'))) accepted += request.length
    return answer
  } finally {
    connection.close()
  }
}

/** A user who has just been made. */
const newUser = async (device: string) => {
  const started = await ask(requestBytes('POST', '/v1/session', {}, json({ deviceId: `${name} ${device}` })))
  const { session } = (
    JSON.parse(started.body.toString()) as { data: { session: { token: string; namespaceSlug: string } } }
  ).data
  const { token, namespaceSlug: slug } = session
  const head = { authorization: `Bearer ${token}` }
  const send = (method: string, path: string, body?: string) =>
    ask(requestBytes(method, path, head, body)).catch(() => undefined) // it may have hung up
  return { token, slug, head, send }
}

type User = Awaited<ReturnType<typeof newUser>>

/** Of an attack: what is done before it is measured, which gives what is done again and again, by each of so many clients. */
type Attack = () => Promise<{
  readonly clients: number
  readonly round: (client: number, round: number) => Promise<unknown>
}>

const bodies: Attack = async () => {
  const users = await Promise.all(times(24, (i) => newUser(`${i}`)))
  const titled = { title: '\u0001'.repeat(4_096), visibility: 'public' }
  return {
    clients: users.length,
    round: async (client, i) => {
      const round = client + i
      const { send } = users[client]!
      const path = `/v1/traces/${client}-${round % 20}`
      await send('PUT', path, json(titled))
      await send('POST', `${path}/messages/batch`, batches[round % batches.length])
      await send('PUT', path, json(trace))
      await send('GET', '/v1/feed?limit=1000')
      await send('GET', `${path}/messages?limit=1000&includeParts=true`)
      if (round % 3 === 0) await send('DELETE', path)
    },
  }
}

const text = (character: string, length: number) => [{ type: 'text', content: { text: character.repeat(length) } }]

/** Sends what an attack needs, again while the service is too busy for it. */
const prepare = async ({ send }: User, method: string, path: string, body: object) => {
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await send(method, path, json(body))
    if (answer?.status === 200) return
    if (answer && answer.status !== 503) throw new Error(`${name} was not prepared: ${answer.status} ${answer.body}`)
    await setTimeout(1_000)
  }
  throw new Error(`${name} was not prepared in ${TRIES} tries`)
}

/** Stores messages one by one. */
const store = async (user: User, trace: string, messages: readonly object[], visibility = 'public') => {
  await prepare(user, 'PUT', `/v1/traces/${trace}`, { title: trace, visibility })
  for (const message of messages)
    await prepare(user, 'POST', `/v1/traces/${trace}/messages/batch`, { messages: [message] })
}

const large = (i: number) => ({ externalId: `m${i}`, role: 'user', parts: text('x', 15 * MB) })

const upserts: Attack = async () => {
  const user = await newUser('upserts')
  await store(user, 'large', times(40, large))
  let order = 0
  const tiny = (count: number, of: number) =>
    json({ messages: times(count, (i) => ({ externalId: `m${i % of}`, role: 'user', order: ++order })) })
  const sendTiny = (count: number, of: number) => user.send('POST', '/v1/traces/large/messages/batch', tiny(count, of))
  return {
    clients: 4,
    round: async (client) => {
      if (client === 0) return sendTiny(200, 1)
      if (client === 1) return sendTiny(40, 40)
      if (client === 2) return sendTiny(200, 40)
      return user.send('PUT', '/v1/traces/large/messages/m7', json({ role: 'user', order: ++order }))
    },
  }
}

const result = (output: string) => ({
  type: 'tool_result',
  content: { callId: 'c', toolName: 'bash', output, status: 'success' },
})
const table = `|${'a|'.repeat(2_000)}\n|${'-|'.repeat(2_000)}\n${'|x|\n'.repeat(300)}`

const pages: Attack = async () => {
  const user = await newUser('pages')
  await store(
    user,
    'terminal',
    times(2, (i) => ({ externalId: `m${i}`, role: 'user', parts: [result('\u001b[1m'.repeat(1.7 * MB))] })),
  )
  await prepare(user, 'PUT', '/v1/traces/tables', { title: 'tables', visibility: 'public' })
  const tables = times(170, (i) => ({
    externalId: `m${i}`,
    role: 'assistant',
    parts: [{ type: 'text', content: { text: table } }],
  }))
  for (let i = 0; i < 3; i++)
    await prepare(user, 'POST', '/v1/traces/tables/messages/batch', {
      messages: tables.map((one) => ({ ...one, externalId: `${i} ${one.externalId}` })),
    })
  return {
    clients: 4,
    round: (client) =>
      ask(requestBytes('GET', `/@${user.slug}/${client % 2 === 0 ? 'terminal' : 'tables'}`, {})).catch(() =>
        setTimeout(100),
      ),
  }
}

/** Sends a body at a pace, in bytes a second. */
const trickle = async (head: Record<string, string>, path: string, body: Buffer, pace: number) => {
  const socket = await openSocket(url, NET)
  let isClosed = false
  socket
    .on('error', () => {})
    .on('close', () => (isClosed = true))
    .resume()
  const request = requestBytes('POST', path, head, body.toString('latin1'))
  const step = pace / 10
  for (let start = 0; start < request.length && !isClosed && !isOver(); start += step) {
    socket.write(request.subarray(start, start + step))
    await setTimeout(100)
  }
  socket.destroy()
}

const uploads: Attack = async () => {
  const users = await Promise.all(times(110, (i) => newUser(`${i}`)))
  await Promise.all(users.map(({ send }) => send('PUT', '/v1/traces/t', '{}')))
  const body = Buffer.from(json({ messages: [large(0)] }))
  return {
    clients: users.length,
    round: (client) =>
      trickle(users[client]!.head, '/v1/traces/t/messages/batch', body, 160_000).catch(() => setTimeout(100)),
  }
}

/** Reads an answer at a pace, in bytes a second. */
const sip = async (path: string, pace: number) => {
  const socket = await openSocket(url, NET)
  let isClosed = false
  socket
    .on('error', () => {})
    .on('close', () => (isClosed = true))
    .pause()
  socket.write(requestBytes('GET', path, {}))
  while (!isClosed && !isOver()) {
    socket.read(Math.min(pace / 10, socket.readableLength) || undefined)
    await setTimeout(100)
  }
  socket.destroy()
}

const readers: Attack = async () => {
  const user = await newUser('readers')
  await store(
    user,
    'long',
    times(40, (i) => ({ externalId: `m${i}`, role: 'user', parts: text('x', MB) })),
  )
  const list = '/v1/traces/long/messages?includeParts=true'
  const paths = [list, `${list}&limit=50`, '/v1/traces/long/export?format=json', '/v1/traces/long/export?format=md']
  return {
    clients: 24,
    round: (client) => sip(paths[client % paths.length]!, 400_000).catch(() => setTimeout(100)),
  }
}

const sockets: Attack = async () => {
  const users = await Promise.all(times(10, (i) => newUser(`${i}`)))
  await store(
    users[0]!,
    'shown',
    times(6, (i) => ({ externalId: `m${i}`, role: 'user', parts: text('x', MB) })),
  )
  for (const { send } of users)
    for (let i = 0; i < 30; i++)
      await send('PUT', `/v1/traces/${i}`, json({ title: 'x'.repeat(4_096), visibility: 'public' }))
  const open = (client: number) => {
    const { token } = users[client % users.length]!
    const headers = { authorization: `Bearer ${token}` }
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime`, {
      headers,
      localAddress: NET,
      perMessageDeflate: false,
    })
    const say = (id: string, query: string, args: object) => socket.send(json({ type: 'subscribe', id, query, args }))
    socket.on('error', () => {}).on('message', () => {})
    socket.on('open', () => {
      for (let i = 0; i < 60; i++) say(`${i} ${client}`.padEnd(200), 'feed:getPublicTraces', { limit: 1_000 - (i % 3) })
      for (let i = 0; i < 40; i++)
        say(`m${i} ${client}`, 'traces:getMessages', { externalId: 'shown', includeParts: true })
    })
    return new Promise<void>((resolve) => socket.once('close', () => resolve()))
  }
  return {
    clients: 202,
    round: async (client, round) => {
      if (client < 200) return open(client).then(() => setTimeout(500))
      const { send } = users[0]!
      await send('PUT', `/v1/traces/${round % 30}`, json({ title: `${round}`.repeat(100), visibility: 'public' }))
      await send('PUT', '/v1/traces/shown/messages/m0', json({ role: 'user', order: round }))
      await setTimeout(20)
    },
  }
}

const idle: Attack = async () => ({
  clients: 1_600,
  round: async () => {
    const socket = await openSocket(url, NET).catch(() => undefined)
    if (!socket) return setTimeout(100)
    await new Promise<void>((resolve) =>
      socket
        .on('error', () => {})
        .on('close', () => resolve())
        .resume(),
    )
    return setTimeout(100)
  },
})

const attacks: Readonly<Record<string, Attack>> = { bodies, upserts, pages, uploads, readers, sockets, idle }

const { clients, round } = await attacks[name]!()
accepted = 0
process.send?.({ isPrepared: true })
process.once('message', async () => {
  until = performance.now() + Number(ms)
  const attack = async (client: number) => {
    for (let i = 0; !isOver(); i++) await round(client, i)
  }
  void Promise.all(times(clients, attack))
  await setTimeout(Number(ms))
  process.send?.({ accepted }, () => process.exit())
})
