import { once } from 'node:events'
import { type AddressInfo, type Socket, connect as connectTo, createServer } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { waitUntilReady } from '../../../src/eventstore/postgres/wait-until-ready.ts'
import { freshDatabase } from '../../support/database.ts'
import { newProxy } from '../log/support/proxy.ts'

const test = suite('a database that starts')

const signal = new AbortController().signal

/** What PostgreSQL answers to whoever wants in before it is ready: one error, then the end. */
const refusal = (code: string) => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mnot now\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

/** Refuses so many connections with a code, then passes on to a real server. */
const starting = async (code: string, times: number) => {
  const database = await freshDatabase()
  const real = await newProxy(database.url)
  let refused = 0
  const pass = (client: Socket) => {
    const { port } = new URL(real.url)
    return client.pipe(connectTo(Number(port))).pipe(client)
  }
  const server = createServer((client) => {
    client.on('error', () => {})
    if (refused++ < times) client.once('data', () => client.end(refusal(code)))
    else pass(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(real.url)
  url.port = String((server.address() as AddressInfo).port)
  const close = async () => {
    server.close()
    await real.close()
    await database.drop()
  }
  return { url: url.href, refused: () => refused, close }
}

test('is waited for', async () => {
  const { url, refused, close } = await starting('57P03', 3)
  await waitUntilReady(url, signal)
  assert.is(refused(), 4)
  await close()
})

test('is not waited for if it refuses for another reason, or after a stop', async () => {
  const wrong = await starting('28P01', 1)
  assert.match(String(await waitUntilReady(wrong.url, signal).catch((error: Error) => error)), 'not now')
  await wrong.close()
  const forever = await starting('57P03', Infinity)
  const stop = new AbortController()
  const waiting = waitUntilReady(forever.url, stop.signal).catch((error: Error) => error.name)
  stop.abort()
  assert.is(await waiting, 'AbortError')
  await forever.close()
})

test.run()
