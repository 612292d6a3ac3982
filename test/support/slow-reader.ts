import { type AddressInfo, type Socket, connect } from 'node:net'
import type { App } from './open-app.ts'

/** The part of an answer that a client has received, and whether the answer is complete. */
export type Received = {
  readonly text: string
  readonly isWhole: boolean
  readonly error: Error | undefined
}

/** A client on a socket of its own that has stopped reading in the middle of an answer. */
export type SlowReader = {
  /** Reads about so many more bytes, and stops again. */
  take(bytes: number): Promise<void>
  /** Reads the rest. */
  rest(): Promise<Received>
  leave(): void
}

const END = '\r\n0\r\n\r\n'

/** The body of a chunked answer, as far as it was received. */
const unchunked = (bytes: Buffer): string => {
  const pieces: Buffer[] = []
  let at = bytes.indexOf('\r\n\r\n') + 4
  for (;;) {
    const line = bytes.indexOf('\r\n', at)
    const length = line < 0 ? 0 : Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (!length) return Buffer.concat(pieces).toString()
    pieces.push(bytes.subarray(line + 2, line + 2 + length))
    at = line + 2 + length + 2
  }
}

/** Resumes a socket until it has received about so many bytes, or has ended. */
const take = (socket: Socket, bytes: number) =>
  new Promise<void>((resolve) => {
    let left = bytes
    const stop = () => {
      socket.pause().off('data', count).off('close', stop)
      resolve()
    }
    const count = (chunk: Buffer) => {
      left -= chunk.length
      if (left <= 0) stop()
    }
    if (socket.closed) return resolve()
    socket.on('data', count).on('close', stop).resume()
  })

/** Makes the app listen on a loopback port of its own. */
export const listen = async ({ app }: Pick<App, 'app'>): Promise<number> => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** How many clients are connected to an app that listens. */
export const connectionsOf = ({ app }: Pick<App, 'app'>): Promise<number> =>
  new Promise((resolve, reject) =>
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

/** Asks for a list and stops after the first bytes of the answer. */
export const openSlowReader = async (
  port: number,
  path: string,
  token?: string,
  version = '1.1',
): Promise<SlowReader> => {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  let error: Error | undefined
  socket.on('error', (thrown) => (error = thrown))
  const authorization = token === undefined ? '' : `authorization: Bearer ${token}\r\n`
  socket.write(`GET ${path} HTTP/${version}\r\nhost: localhost\r\nconnection: close\r\n${authorization}\r\n`)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await take(socket, 1)
  const rest = async () => {
    socket.resume()
    await closed
    const bytes = Buffer.concat(chunks)
    return { text: unchunked(bytes), isWhole: bytes.subarray(-END.length).toString('latin1') === END, error }
  }
  return { take: (bytes) => take(socket, bytes), rest, leave: () => void socket.destroy() }
}
