import { once } from 'node:events'
import { type Socket, connect } from 'node:net'

/** One request ready to be sent. */
export const requestBytes = (
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string | Buffer,
): Buffer => {
  const payload = typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0))
  const lines = {
    host: 'localhost',
    ...headers,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(payload.length) }),
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n`), payload])
}

/** `first`: when its first byte came, on the clock of `performance.now()`. */
type Answer = { readonly status: number; readonly body: Buffer; readonly first: number }
export type Connection = { send(request: Buffer): Promise<Answer>; close(): void }

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')

/**
 * How long an answer is whose head ends at `end`: undefined while that is not known, NaN where nothing says it. A chunked body is
 * taken as it is sent.
 */
const lengthOf = (buffer: Buffer, end: number): number | undefined => {
  const head = buffer.toString('latin1', 0, end)
  const length = /content-length: (\d+)/i.exec(head)
  if (length) return end + 4 + Number(length[1])
  if (!/transfer-encoding: chunked/i.test(head)) return Number.NaN
  const last = buffer.indexOf(LAST_CHUNK, end + 2)
  return last < 0 ? undefined : last + LAST_CHUNK.length
}

/** A socket from a loopback address, so that clients can be of different nets. */
export const openSocket = async (url: string, localAddress?: string): Promise<Socket> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, ...(localAddress && { localAddress }) })
  await once(socket, 'connect')
  return socket
}

/** A kept-alive connection that costs next to nothing, so that the server is measured and not the client. */
export const openConnection = async (url: string, from?: string): Promise<Connection> => {
  const socket: Socket = await openSocket(url, from)
  let buffer: Buffer = Buffer.alloc(0)
  let settle: { resolve(answer: Answer): void; reject(error: Error): void } | undefined
  let need = 0
  let first = 0

  const look = () => {
    if (!settle || buffer.length < need) return
    const end = buffer.indexOf(END_OF_HEAD)
    if (end < 0) return
    const total = lengthOf(buffer, end)
    if (total === undefined) return
    if (Number.isNaN(total)) return settle.reject(new Error(`no length: ${buffer.toString('latin1', 0, end)}`))
    need = total
    if (buffer.length < total) return
    const [status, body] = [Number(buffer.toString('latin1', 9, 12)), buffer.subarray(end + 4, total)]
    buffer = buffer.subarray(total)
    need = 0
    const { resolve } = settle
    settle = undefined
    resolve({ status, body, first })
  }

  const chunks: Buffer[] = []
  let held = 0
  socket.on('data', (chunk: Buffer) => {
    first ||= performance.now()
    chunks.push(chunk)
    held += chunk.length
    if (buffer.length + held < need) return
    buffer = chunks.length === 1 && buffer.length === 0 ? chunks[0]! : Buffer.concat([buffer, ...chunks])
    chunks.length = 0
    held = 0
    look()
  })
  socket.on('error', (error) => settle?.reject(error))
  socket.on('close', () => settle?.reject(new Error('the connection was closed')))

  const send = (request: Buffer) =>
    new Promise<Answer>((resolve, reject) => {
      settle = { resolve, reject }
      first = 0
      socket.write(request)
    })
  return { send, close: () => socket.destroy() }
}

/** Calls `work` from `workers` loops at once for `ms`; returns how often a second it came back. */
export const rate = async (workers: number, ms: number, work: (worker: number) => Promise<number>): Promise<number> => {
  let done = 0
  const started = performance.now()
  const end = started + ms
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      while (performance.now() < end) {
        const more = await work(worker)
        done += more // not `done += await …`: that would add to what it was before the wait
      }
    }),
  )
  return (done * 1_000) / (performance.now() - started)
}

/**
 * How many requests a second are answered with 200 for `ms`, over so many connections, each of which sends the next one when it has its answer.
 * @param next the next request of a connection @param seen is called with each answer, and when its request was sent
 */
export const requestRate = async (
  url: string,
  workers: number,
  ms: number,
  next: (worker: number) => Buffer | Promise<Buffer>,
  seen?: (answer: Answer, sent: number) => void,
): Promise<number> => {
  const connections = await Promise.all(Array.from({ length: workers }, () => openConnection(url)))
  const result = await rate(workers, ms, async (worker) => {
    const request = await next(worker)
    const sent = performance.now()
    const answer = await connections[worker]!.send(request)
    if (answer.status !== 200)
      throw new Error(`${request.subarray(0, request.indexOf('\r'))}: ${answer.status} ${answer.body}`)
    seen?.(answer, sent)
    return 1
  })
  for (const connection of connections) connection.close()
  return result
}
