/**
 * Clients that send the worst bodies there are, each with a session of its own, for as long as they are asked to: a
 * process of its own, so that the time it takes is not taken for the service's. Arguments: the address, how many, and for
 * how many milliseconds. Tells its parent how many bytes were accepted.
 */
import { openConnection, requestBytes } from './http.ts'

const [url = '', clients = '24', ms = '60000'] = process.argv.slice(2)
const MB = 1_000_000

const json = (value: unknown) => JSON.stringify(value)
const batch = (messages: unknown[]) => json({ messages })
const message = (i: number, more: object) => ({ externalId: `m${i}`, role: 'assistant', order: i, ...more })
const parts = (count: number, content: object) => Array.from({ length: count }, () => content)
const call = (name: string) => ({ type: 'tool_call', content: { callId: 'c', toolName: name, args: {} } })

/** Bodies of a batch: by how many values, by how long, by how deep, by how odd. */
const batches = [
  `{"messages":[${'{},'.repeat(5 * MB)}{}]}`,
  `{"messages":[${'[['.repeat(4 * MB)}`,
  `{"messages":[{"externalId":"m","role":"user","parts":[{"type":"text","content":${'{"a":'.repeat(2 * MB)}1${'}'.repeat(2 * MB)}}]}]}`,
  batch(Array.from({ length: 10 }, (_, i) => message(i, { parts: parts(2_000, call(`tool ${i}`)) }))),
  batch(Array.from({ length: 10 }, (_, i) => message(i, { parts: [call('x'.repeat(900_000))] }))),
  batch([
    message(0, { parts: [{ type: 'tool_call', content: { callId: 'c', toolName: 't', args: { n: '9' } } }] }),
  ]).replace('"9"', `[${'12345678901234567890123,'.repeat(150_000)}1]`),
  batch(
    Array.from({ length: 40 }, (_, i) => ({ ...message(i, { textContent: '@a/'.repeat(130_000) }), role: 'user' })),
  ),
  batch([message(0, { textContent: '\\u0000'.repeat(MB) })]),
  batch([{ ...message(0, {}), ...Object.fromEntries(Array.from({ length: 190_000 }, (_, i) => [`k${i}`, i])) }]),
]
const trace = { title: 'x'.repeat(MB / 2), projectPath: '/x'.repeat(MB / 8), agentId: 'x'.repeat(MB / 8) }

let accepted = 0

const attack = async (i: number, until: number) => {
  const ask = async (request: Buffer) => {
    const connection = await openConnection(url)
    try {
      const answer = await connection.send(request)
      if (answer.status === 200 && !request.subarray(0, 3).equals(Buffer.from('GET'))) accepted += request.length
      return answer
    } finally {
      connection.close()
    }
  }
  const started = await ask(requestBytes('POST', '/v1/session', {}, json({ deviceId: `a hostile device ${i}` })))
  const { token } = (JSON.parse(started.body.toString()) as { data: { session: { token: string } } }).data.session
  const head = { authorization: `Bearer ${token}` }
  const send = (method: string, path: string, body?: string) =>
    ask(requestBytes(method, path, head, body)).catch(() => undefined) // it may have hung up
  const titled = { title: '\u0001'.repeat(4_096), visibility: 'public' }
  for (let round = i; performance.now() < until; round++) {
    const path = `/v1/traces/${i}-${round % 20}`
    await send('PUT', path, json(titled))
    await send('POST', `${path}/messages/batch`, batches[round % batches.length])
    await send('PUT', path, json(trace))
    await send('GET', '/v1/feed?limit=1000')
    await send('GET', `${path}/messages?limit=1000&includeParts=true`)
    if (round % 3 === 0) await send('DELETE', path)
  }
}

const until = performance.now() + Number(ms)
await Promise.all(Array.from({ length: Number(clients) }, (_, i) => attack(i, until)))
process.send?.({ accepted })
