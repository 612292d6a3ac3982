import type { WebSocket } from 'ws'
import { toHttpError } from '../http/errors.ts'
import { rateLimited } from '../http/http-error.ts'
import type { Client } from '../../base/permits.ts'
import type { Turns } from '../../base/yielding.ts'
import { type NextValue, newClientSubscriptions } from './client-subscriptions.ts'
import type { LiveQueries } from './live-queries.ts'
import { closeCodes } from '../../contract/close-codes.ts'
import { newFrameSender } from './frame-sender.ts'
import { ClientFrame, EXAMPLE_FRAME, type FrameError } from '../../contract/frames.ts'
import type { Question } from './answer.ts'
import type { Receiver, SharedBytes } from './shared-bytes.ts'

const RESULT_END = Buffer.from('}')

/** A result frame, as bytes. Its value is JSON text already, and shared by all subscribers. */
const resultFrame = (id: string, value: Buffer): readonly Buffer[] => [
  Buffer.from(`{"type":"result","id":${JSON.stringify(id)},"value":`),
  value,
  RESULT_END,
]

const errorFrame = (error: FrameError, id?: string): string =>
  JSON.stringify({ type: 'error', ...(id === undefined ? {} : { id }), error })

/** The connection of one client. Times are by `performance.now()`. */
export type Connection = {
  /** When a frame, ping or pong last came from the client. */
  heardAt(): number
  /** How many bytes the client has read in all; undefined while no frame is being sent. */
  taken(): number | undefined
  subscriptions(): number
  ping(): void
  /** Closes the connection, once. A client that does not leave is cut off after some seconds. */
  close(code: number, reason: string): void
  /** Ends the connection without a close frame. */
  terminate(): void
}

type ConnectionOptions = {
  readonly socket: WebSocket
  readonly live: LiveQueries
  readonly maxSubscriptions: number
  /** The question of a subscription. @throws HttpError invalid_request */
  readonly questionOf: (query: string, args: Readonly<Record<string, unknown>>) => Question
  /** Checks the token of a subscription. @throws HttpError rate_limited after too many invalid ones */
  readonly admit: (token: string) => Promise<void>
  /** How many milliseconds the client must wait before it may subscribe again; undefined if it need not. */
  readonly rateLimitWait: () => number | undefined
  /** For permits and turns: the session or address of the client. */
  readonly client: () => Client
  readonly turns: Turns
  /** Called if other clients need the memory of a value that this client reads too slowly. */
  readonly onYield: () => void
  /** Called with each failure that the client has not caused. */
  readonly onError: (error: unknown) => void
  /** Called for each value that is sent. */
  readonly onPush: () => void
  readonly onClose: () => void
}

const parse = (data: Buffer, isBinary: boolean): ClientFrame | undefined => {
  if (isBinary) return undefined
  try {
    return ClientFrame.safeParse(JSON.parse(data.toString())).data
  } catch {
    return undefined
  }
}

const PONG = '{"type":"pong"}'
const UNUSABLE = {
  code: 'invalid_request',
  message: `A frame must be JSON text such as ${EXAMPLE_FRAME}: see GET /v1/realtime at /docs for all kinds`,
}

/** How long a client has to leave after a close frame. */
const LEAVE_MS = 10_000
const MAX_CONTROL = 1_000

/**
 * Serves one client. One frame is sent at a time. The queue holds no values, but notes that there are newer ones: so a client that reads
 * slowly costs no memory, and gets the newest value that it may read when its turn comes.
 */
export const newConnection = (options: ConnectionOptions): Connection => {
  const { socket, live, maxSubscriptions, questionOf, admit, rateLimitWait, onError, onPush, onClose } = options
  const { client, turns, onYield } = options
  const control: string[] = []
  let heardAt = performance.now()
  let isClosing = false
  let leaving: NodeJS.Timeout | undefined

  const turn = () => turns.take(client())

  /** Sends the next frame: errors and pongs first, then values. */
  const pump = () => {
    isDue = false
    if (sender.isSending() || socket.readyState !== socket.OPEN) return
    const text = control.shift()
    if (text !== undefined) return sender.send([Buffer.from(text)])
    const next = subscriptions.next()
    if (receiving !== next?.bytes) receiving?.leave(receiver)
    receiving = next?.bytes
    const bytes = receiving?.join(receiver)
    if (next && bytes) sendValue(next, bytes)
  }

  const sendValue = ({ id, bytes: shared, onSending, mayGoOn, onSent }: NextValue, bytes: Buffer) => {
    onSending()
    onPush()
    const onGiven = () => shared.moved(receiver, 0)
    const onTaken = (count: number) => {
      shared.moved(receiver, count)
      shared.rest(receiver)
    }
    const onEnd = (isWhole: boolean) => {
      leave()
      if (isWhole) onSent()
    }
    sender.send(resultFrame(id, bytes), { mayGoOn, onGiven, onTaken, onEnd })
  }

  /** Sends the next frame, if there is one, when this client has its turn. */
  const onDue = () => {
    if (isDue || isClosing) return
    isDue = true
    const wait = turn()
    if (wait) void wait.then(pump)
    else pump()
  }

  let isDue = false
  /** The value that is being sent, or waits for memory. */
  let receiving: SharedBytes | undefined
  const receiver: Receiver = { client, onRoom: onDue, onYield }
  const leave = () => {
    receiving?.leave(receiver)
    receiving = undefined
  }
  const sender = newFrameSender(socket, { turn, resume: onDue })

  const say = (frame: string) => {
    control.push(frame)
    onDue()
  }

  const complain = (error: unknown, id?: string) => {
    const { code, message, details } = toHttpError(error)
    if (code === 'internal') onError(error)
    say(errorFrame({ code, message, ...(details === undefined ? {} : { details }) }, id))
  }

  const subscriptions = newClientSubscriptions({ live, client, max: maxSubscriptions, onDue, onFailure: complain })

  const refuse = (error: unknown, id: string) => {
    subscriptions.remove(id)
    complain(error, id)
  }

  const subscribe = ({ id, query, args }: Extract<ClientFrame, { type: 'subscribe' }>) => {
    const subscription = subscriptions.add(id)
    const wait = rateLimitWait()
    if (wait !== undefined) throw rateLimited(wait)
    const question = questionOf(query, args)
    if (question.token === undefined) return subscription.follow(question)
    admit(question.token).then(
      () => subscription.isPresent() && subscription.follow(question),
      (error: unknown) => subscription.isPresent() && refuse(error, id),
    )
  }

  const take = (frame: ClientFrame) => {
    switch (frame.type) {
      case 'subscribe':
        return subscribe(frame)
      case 'unsubscribe':
        return subscriptions.remove(frame.id)
      case 'ping':
        return say(PONG)
      case 'pong':
        return
    }
  }

  const close = (code: number, reason: string) => {
    if (isClosing) return
    isClosing = true
    subscriptions.removeAll()
    control.length = 0
    socket.close(code, reason)
    leaving = setTimeout(() => socket.terminate(), LEAVE_MS).unref()
  }

  const hear = (data: Buffer, isBinary: boolean) => {
    if (isClosing) return
    const frame = parse(data, isBinary)
    if (!frame) return say(errorFrame(UNUSABLE))
    try {
      take(frame)
    } catch (error) {
      if (frame.type === 'subscribe') refuse(error, frame.id)
      else complain(error)
    }
    // The answers to a client that sends but does not read would fill the memory.
    if (control.length > MAX_CONTROL) close(closeCodes.slow, 'reads too slowly')
  }

  /** Received frames that wait for the client's turn. Meanwhile the socket is not read. */
  const unheard: (() => void)[] = []
  const hearAll = async () => {
    for (let wait = turn(); unheard.length > 0; wait = turn()) {
      if (wait) socket.pause()
      await wait
      unheard.shift()?.()
    }
    socket.resume()
  }

  socket.on('message', (data: Buffer, isBinary: boolean) => {
    heardAt = performance.now()
    if (unheard.push(() => hear(data, isBinary)) === 1) void hearAll()
  })
  for (const sign of ['ping', 'pong'] as const) socket.on(sign, () => (heardAt = performance.now()))
  socket.once('close', () => {
    isClosing = true
    sender.end()
    leave()
    clearTimeout(leaving)
    subscriptions.removeAll()
    onClose()
  })

  return {
    heardAt: () => heardAt,
    taken: () => (sender.isSending() ? sender.taken() : undefined),
    subscriptions: subscriptions.size,
    ping: () => socket.ping(),
    close,
    terminate: () => socket.terminate(),
  }
}
