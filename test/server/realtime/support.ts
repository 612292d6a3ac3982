import { WebSocket } from 'ws'
import { until } from '../../support/until.ts'

export type Frame = {
  readonly type: string
  readonly id?: string
  readonly value?: unknown
  readonly error?: { readonly code: string }
}

/** A client that keeps all it is sent. */
export const connect = async (origin: string, headers: Record<string, string> = {}) => {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/v1/realtime`, { headers })
  const frames: Frame[] = []
  let closed: number | undefined
  socket.on('message', (data) => frames.push(JSON.parse(String(data)) as Frame))
  socket.on('close', (code) => (closed = code))
  socket.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve())
    socket.once('unexpected-response', (_request, answer) =>
      reject(new Error(`answered ${answer.statusCode}, Retry-After ${answer.headers['retry-after']}`)),
    )
  })
  const say = (frame: object) => socket.send(JSON.stringify(frame))
  return {
    socket,
    frames,
    say,
    subscribe: (id: string, query: string, args: object = {}) => say({ type: 'subscribe', id, query, args }),
    /** The values of a subscription so far. */
    values: (id: string) =>
      frames.filter((frame) => frame.id === id && frame.type === 'result').map(({ value }) => value),
    errors: () => frames.filter(({ type }) => type === 'error').map(({ error }) => error?.code),
    closed: () => until(() => closed),
    end: () => socket.terminate(),
  }
}

export type Client = Awaited<ReturnType<typeof connect>>
