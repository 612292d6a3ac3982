import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { boundSockets } from '../../../src/server/http/sockets.ts'
import { newLineBudget } from '../../../src/server/http/line-budget.ts'
import { newPermits } from '../../../src/base/permits.ts'
import { until } from '../../support/until.ts'

const test = suite('http: connections')

/** A server that has room for so many, and answers `/wait` when it is told to. */
const serve = async (capacity: number) => {
  const sockets = newPermits({ capacity, things: 'connections', minPace: Infinity, graceTicks: 0, waitTicks: 0 })
  const warned: object[] = []
  const waiting: (() => void)[] = []
  const server = createServer((request, response) => {
    request.resume()
    if (request.url === '/wait') waiting.push(() => response.end('waited'))
    else request.on('end', () => response.end('here'))
  })
  boundSockets(server, {
    sockets,
    logger: { warn: (line: object) => void warned.push(line) },
    lines: newLineBudget({ report: () => {} }),
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const all: Socket[] = []
  const open = async (localAddress = '127.0.0.2') => {
    const held = sockets.held()
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.on('error', () => {})
    all.push(socket)
    await once(socket, 'connect')
    await until(() => sockets.held() !== held || sockets.held() === capacity)
    return socket
  }
  const ask = async (socket: Socket, path = '/', more = '') => {
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${more}\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.toString()
  }
  const close = async () => {
    for (const socket of all) socket.destroy()
    server.close()
    await once(server, 'close')
    await until(() => sockets.held() === 0)
  }
  return { open, ask, close, waiting, warned, sockets }
}

const isClosed = (socket: Socket) => until(() => socket.destroyed || socket.readableEnded)

test('if there is no room, the oldest idle connection of the largest net is closed, and the log says so once', async () => {
  const { open, ask, close, warned } = await serve(5)
  const mine = await open('127.0.0.1')
  const idle = [await open(), await open(), await open(), await open()]
  const other = await open('127.0.0.3')
  assert.match(await ask(other), 'here')
  await isClosed(idle[0]!)
  await open()
  await isClosed(idle[1]!)
  assert.match(await ask(mine), 'here')
  assert.match(await ask(idle[2]!), 'here')
  assert.equal(warned, [{ net: 'net:127.0.0.2', connections: 4 }])
  await close()
})

test('a connection that waits for its answer is not idle; one that has not sent its request is', async () => {
  const { open, ask, close, waiting, sockets } = await serve(2)
  const busy = await open()
  const answer = ask(busy, '/wait')
  await until(() => waiting.length === 1)
  const trickling = await open()
  trickling.write('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nabc')
  const next = await open('127.0.0.3')
  await isClosed(trickling)
  assert.match(await ask(next), 'here')
  next.write('GET /wait HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await until(() => waiting.length === 2)
  const refused = await open('127.0.0.4') // nobody is idle
  sockets.tick()
  await isClosed(refused)
  for (const end of waiting) end()
  assert.match(await answer, 'waited')
  await close()
})

test.run()
