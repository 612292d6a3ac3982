import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HttpError } from '../../../src/server/http/http-error.ts'
import { newIntake } from '../../../src/server/http/intake.ts'
import { Busy, newPermits } from '../../../src/base/permits.ts'
import { bufferBytes } from '../../support/held-objects.ts'
import { newWorld, signIn } from '../../support/world.ts'

const test = suite('http: reading of bodies')
const KiB = 1024

/** A body that arrives as the test writes it. */
const arriving = (headers: Record<string, string> = {}) => {
  const stream = Object.assign(new PassThrough(), { headers })
  return { stream, payload: stream as unknown as IncomingMessage }
}
const clientOf = (name: string) => ({ id: `user:${name}`, net: 'net:here' })
const asked = (name = 'a') => ({ limit: 1_000 * KiB, client: clientOf(name) })
/** An intake with room for so many bytes that arrive, and that are worked on. */
const intakeOf = ({ arriving = 32 * 1024 * KiB, working = 16 * 1024 * KiB } = {}) => {
  const bodies = newPermits({ capacity: arriving, things: 'bodies', grows: true })
  const work = newPermits({ capacity: working, things: 'bodies' })
  return { ...newIntake({ bodies, work }), bodies, work }
}
const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

test('if too much arrives at once, the body that has been arriving for longest yields', async () => {
  const intake = intakeOf({ arriving: 300 * KiB })
  const [slow, quick] = [arriving(), arriving()]
  const refused = failure(intake.read(slow.payload, asked('slow')))
  slow.stream.write(Buffer.alloc(200 * KiB))
  await new Promise(setImmediate)
  const read = intake.read(quick.payload, asked('quick'))
  quick.stream.end(Buffer.alloc(200 * KiB))
  assert.instance(await refused, Busy)
  assert.is((await read).bytes.length, 200 * KiB)
})

test('the client that holds the most yields, not the one that has been sending for longest', async () => {
  const intake = intakeOf({ arriving: 500 * KiB })
  const [honest, one, two] = [arriving(), arriving(), arriving()]
  const read = intake.read(honest.payload, asked('honest'))
  honest.stream.write(Buffer.alloc(100 * KiB))
  await new Promise(setImmediate)
  const greedy = [one, two].map(({ payload }) => failure(intake.read(payload, asked('greedy'))))
  for (const { stream } of [one, two]) stream.write(Buffer.alloc(240 * KiB))
  assert.instance(await greedy[0], Busy)
  honest.stream.end(Buffer.alloc(50 * KiB))
  assert.is((await read).bytes.length, 150 * KiB)
})

test('the memory of a refused body is freed at once, not when garbage is collected', async () => {
  const intake = intakeOf()
  const { stream, payload } = arriving()
  const chunk = Buffer.alloc(1_000 * KiB)
  const before = bufferBytes()
  const refused = failure(intake.read(payload, { limit: 7_500 * KiB, client: clientOf('a') }))
  for (let i = 0; i < 8; i++) stream.write(chunk)
  assert.instance(await refused, HttpError)
  const more = bufferBytes() - before
  assert.ok(more < 1_000 * KiB, `${more} bytes more`)
})

test('a body whose client left before it was read is given up at once', async () => {
  const intake = intakeOf()
  const { stream, payload } = arriving()
  stream.destroy()
  await once(stream, 'close')
  assert.instance(await failure(intake.read(payload, asked())), HttpError)
})

test('large bodies wait until they are processed, small bodies do not', async () => {
  const intake = intakeOf({ working: 300 * KiB })
  const send = (size: number) => {
    const { stream, payload } = arriving()
    stream.end(Buffer.alloc(size))
    return intake.read(payload, asked())
  }
  const first = await send(200 * KiB)
  const order: string[] = []
  const second = send(200 * KiB).then(({ done }) => (order.push('large'), done()))
  await send(KiB)
  order.push('small')
  first.done()
  await second
  assert.equal(order, ['small', 'large'])
})

test('bodies that wait to be processed count as arriving, so that they are bounded, too', async () => {
  const intake = intakeOf({ working: 200 * KiB, arriving: 500 * KiB })
  /** A body that has arrived as a whole. */
  const send = async (name: string) => {
    const { stream, payload } = arriving()
    const read = intake.read(payload, asked(name))
    stream.end(Buffer.alloc(200 * KiB))
    await once(stream, 'end')
    return { read, outcome: failure(read) }
  }
  const first = await send('a')
  const waiting = [await send('b'), await send('c'), await send('d')]
  const refused = await waiting[0]!.outcome
  assert.instance(refused, Busy)
  assert.is((refused as Busy).message, 'There are too many bodies, and yours take up the most: try again later')
  for (const { read } of [first, ...waiting.slice(1)]) (await read).done()
  for (const name of ['e', 'f']) (await (await send(name)).read).done()
  assert.equal([intake.bodies.held(), intake.work.held()], [0, 0])
})

test('while many sessions fill the memory slowly, a body that arrives fast is read', async () => {
  const bodies = newPermits({ capacity: 1_000 * KiB, things: 'bodies', grows: true, minPace: 50 * KiB })
  const work = newPermits({ capacity: 1_000 * KiB, things: 'bodies' })
  const intake = newIntake({ bodies, work })
  const hoarders = Array.from({ length: 10 }, arriving)
  const outcomes = hoarders.map(({ payload }, i) => failure(intake.read(payload, asked(`hoarder ${i}`))))
  for (let i = 0; i < 9; i++) {
    for (const { stream } of hoarders) stream.write(Buffer.alloc(10 * KiB))
    await new Promise(setImmediate)
    bodies.tick()
  }
  const { stream, payload } = arriving()
  const read = intake.read(payload, asked('honest'))
  for (let i = 0; i < 9; i++) {
    stream.write(Buffer.alloc(100 * KiB))
    await new Promise(setImmediate)
  }
  stream.end()
  assert.is((await read).bytes.length, 900 * KiB)
  assert.match(((await outcomes[0]) as Busy).message, 'yours moved slowest')
  for (const one of hoarders) one.stream.end()
  await Promise.all(outcomes)
})

test('a body that is only announced takes no memory', async () => {
  const intake = intakeOf()
  const before = bufferBytes()
  const all = Array.from({ length: 50 }, () => arriving({ 'content-length': '1000000' }))
  const outcomes = all.map(({ payload }) => failure(intake.read(payload, asked())))
  for (const { stream } of all) stream.write('{')
  await new Promise(setImmediate)
  const more = bufferBytes() - before
  assert.ok(more < 50 * 20 * KiB, `${more} bytes`)
  for (const { stream } of all) stream.destroy()
  await Promise.all(outcomes)
})

test('a body over its limit is refused, announced or not', async () => {
  const intake = intakeOf()
  for (const headers of [{ 'content-length': '2000000' }, {}] as Record<string, string>[]) {
    const { stream, payload } = arriving(headers)
    stream.end(Buffer.alloc(1_001 * KiB))
    const error = await failure(intake.read(payload, asked()))
    assert.ok(error instanceof HttpError && error.code === 'payload_too_large')
  }
})

const MiB = KiB * KiB
const batch = JSON.stringify({
  messages: Array.from({ length: 15 }, (_, i) => ({ externalId: `m${i}`, role: 'user', textContent: 'x'.repeat(MiB) })),
})

test('of two dozen of the largest batches at once some are stored, and the others can be sent again', async () => {
  const { node, close } = await newWorld()
  const address = await node.app.listen({ host: '127.0.0.1', port: 0 })
  const send = async () => {
    const owner = await signIn(node)
    const { url } = await owner.newTrace()
    const headers = {
      ...owner.headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(batch),
    }
    const outgoing = request(`${address}${url}/messages/batch`, { method: 'POST', headers, agent: false })
    outgoing.on('error', () => {}) // after an early answer the rest of the body goes nowhere
    outgoing.end(batch)
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    const body = JSON.parse(await text(response)) as { error?: { details: unknown } }
    return { owner, url, status: response.statusCode!, retry: response.headers['retry-after'], body }
  }
  const answers = await Promise.all(Array.from({ length: 24 }, send))
  assert.ok(answers.some(({ status }) => status === 200))
  for (const { owner, url, status, retry, body } of answers) {
    const { messageCount } = (await owner.send<{ trace: { messageCount: number } }>('GET', url)).trace
    if (status === 200) assert.is(messageCount, 15)
    if (status === 200) continue
    assert.is(status, 503)
    assert.ok(retry)
    const { stored } = body.error!.details as { stored: unknown }
    if (stored === false) assert.is(messageCount, 0)
    else assert.ok(stored === 'unknown' || stored === true) // it waited for too long for the log, or until it was visible
  }
  assert.is((await send()).status, 200)
  await close()
})

test('rights are checked again when the body has arrived', async () => {
  const { node, close } = await newWorld()
  const address = await node.app.listen({ host: '127.0.0.1', port: 0 })
  const { token, send, newTrace } = await signIn(node)
  const { url } = await newTrace()
  const body = '{"role":"user"}'
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  const head = [`authorization: Bearer ${token}`, 'content-type: application/json', `content-length: ${body.length}`]
  const begun = once(node.app.server, 'request')
  socket.write(`PUT ${url}/messages/m HTTP/1.1\r\nhost: localhost\r\n${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
  await begun
  const since = performance.now()
  while (performance.now() - since < 1_500) await fetch(`${address}/health`)
  await send('DELETE', '/v1/session')
  socket.write(body.slice(5))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  assert.match(answer.toString(), /^HTTP\/1.1 401/)
  socket.destroy()
  await close()
})

test.run()
