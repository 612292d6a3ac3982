import type { WebSocket } from 'ws'
import { toHttpError } from '../http/errors.ts'
import { rateLimited } from '../http/http-error.ts'
import type { Client } from '../base/permits.ts'
import type { Turns } from '../base/yielding.ts'
import { type NextValue, newClientSubscriptions } from './client-subscriptions.ts'
import type { LiveQueries } from './live-queries.ts'
import { closeCodes } from '../contract/close-codes.ts'
import { newFrameSender } from './frame-sender.ts'
import { ClientFrame, EXAMPLE_FRAME } from '../contract/frames.ts'
import { errorFrame, resultFrame } from './protocol.ts'
import type { Question } from './answer.ts'
import type { Receiver, SharedBytes } from './shared-bytes.ts'

/** One client that is connected. Times are milliseconds that only move forward. */
export type Connection = {
  /** When it was heard of last. */
  heardAt(): number
  /** How many bytes it has taken of all that it was sent; undefined while it is sent nothing. */
  taken(): number | undefined
  subscriptions(): number
  ping(): void
  /** Tells the client to go, once; one that does not is cut off after some seconds. */
  close(code: number, reason: string): void
  /** Cuts it off. */
  terminate(): void
}

export type ConnectionOptions = {
  readonly socket: WebSocket
  readonly live: LiveQueries
  readonly maxSubscriptions: number
  /** What a subscription asks. @throws HttpError, invalid_request */
  readonly questionOf: (query: string, args: Readonly<Record<string, unknown>>) => Question
  /** Looks at the token that a subscription brings along. @throws HttpError rate_limited for too many that are not valid */
  readonly admit: (token: string) => Promise<void>
  /** The milliseconds that the client must wait before it may subscribe again; undefined for none. */
  readonly rateLimitWait: () => number | undefined
  /** Who is behind it. */
  readonly client: () => Client
  readonly turns: Turns
  /** Called when others need the memory of what the client takes too slowly. */
  readonly onYield: () => void
  /** Called with each failure that is not the client's. */
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
  message: `A frame is a text of JSON such as ${EXAMPLE_FRAME}: all kinds are told of under GET /v1/realtime at /docs`,
}

/** A client that has been told to go, and does not, is gone after this. */
const LEAVE_MS = 10_000
const MAX_CONTROL = 1_000

/**
 * Answers one client. One frame is on its way at a time; what waits is no value, but that there is one: a client that reads
 * slowly costs no memory, and gets what is newest, and may still be read, when it comes to it.
 */
export const newConnection = (options: ConnectionOptions): Connection => {
  const { socket, live, maxSubscriptions, questionOf, admit, rateLimitWait, onError, onPush, onClose } = options
  const { client, turns, onYield } = options
  const control: string[] = []
  let heardAt = performance.now()
  let isClosing = false
  let leaving: NodeJS.Timeout | undefined

  const turn = () => turns.take(client())

  /** Sends what is due, one frame at a time: errors and pongs first, then values. */
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

  /** There may be something to send: it is when this client has its turn. */
  const onDue = () => {
    if (isDue || isClosing) return
    isDue = true
    const wait = turn()
    if (wait) void wait.then(pump)
    else pump()
  }

  let isDue = false
  /** The value that is being sent, or waits for room. */
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
    // Answers to a client that sends without reading would pile up here.
    if (control.length > MAX_CONTROL) close(closeCodes.slow, 'reads too slowly')
  }

  /** Frames that came together, and wait for the client's turn: meanwhile no more are read. */
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
