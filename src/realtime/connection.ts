import type { WebSocket } from 'ws'
import { HttpError } from '../http/http-error.ts'
import { describe } from '../http/errors.ts'
import type { Answer, LiveQueries } from './live-queries.ts'
import { ClientFrame, closeCodes, errorFrame, resultFrame } from './protocol.ts'
import type { Question } from './question.ts'

/** One client that is connected. Times are milliseconds that only move forward. */
export type Connection = {
  /** When it was heard of last. */
  heardAt(): number
  /** Since when it has been taking one frame; undefined while it is up to date. */
  sendingSince(): number | undefined
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
  /** Told of each token that a subscription brings along. */
  readonly brings: (token: string) => void
  /** The milliseconds that the client must wait before it may subscribe again; undefined for none. */
  readonly takeTurn: () => number | undefined
  readonly pushed: (frames: number) => void
  readonly closed: () => void
}

type Subscription = {
  readonly id: string
  question: Question
  stop: () => void
  /** The value that the client was sent last. */
  sent: string | undefined
  /** A value is on its way after which the question is another one. */
  goesOn: boolean
}

/** Begins anew behind what was sent, or with the same question as before. */
type Pending = { readonly frame: string; readonly sent?: () => void }

const parse = (data: Buffer, isBinary: boolean): ClientFrame | undefined => {
  if (isBinary) return undefined
  try {
    return ClientFrame.safeParse(JSON.parse(data.toString())).data
  } catch {
    return undefined
  }
}

const PONG = '{"type":"pong"}'
const UNUSABLE = { code: 'invalid_request', message: 'This is no frame of the realtime interface' }

/** A client that has been told to go, and does not, is gone after this. */
const LEAVE_MS = 10_000
const MAX_CONTROL = 1_000

/**
 * Answers one client. Of each subscription only the newest value waits to be sent, one frame is on its way at a time, so
 * a client that reads slowly costs no memory; it gets what is newest when it comes to it.
 */
export const newConnection = (options: ConnectionOptions): Connection => {
  const { socket, live, maxSubscriptions, questionOf, brings, takeTurn, pushed, closed } = options
  const subscriptions = new Map<string, Subscription>()
  const waiting = new Map<string, Pending>()
  const control: string[] = []
  let heardAt = performance.now()
  let sendingSince: number | undefined
  let isClosing = false
  let leaving: NodeJS.Timeout | undefined

  const transmit = (frame: string, sent?: () => void) => {
    sendingSince = performance.now()
    socket.send(frame, (error) => {
      sendingSince = undefined
      if (error) return
      sent?.()
      pump()
    })
  }

  /** Sends what waits: errors and pongs first, then values in the order in which they were due. */
  const pump = () => {
    if (sendingSince !== undefined || socket.readyState !== socket.OPEN) return
    const said = control.shift()
    if (said !== undefined) return transmit(said)
    const [next] = waiting
    if (!next) return
    const [id, { frame, sent }] = next
    waiting.delete(id)
    pushed(1)
    transmit(frame, sent)
  }

  const say = (frame: string) => {
    control.push(frame)
    pump()
  }

  const drop = (id: string) => {
    subscriptions.get(id)?.stop()
    subscriptions.delete(id)
    waiting.delete(id)
  }

  const complain = (error: unknown, id?: string) => {
    const { code, message, details } = describe(error)
    say(errorFrame({ code, message, ...(details === undefined ? {} : { details }) }, id))
  }

  /** A question that goes on from what was sent waits for that to be sent. */
  const goOn = (subscription: Subscription, answer: Answer, position: bigint) => {
    const { next } = subscription.question
    if (!next || subscriptions.get(subscription.id) !== subscription) return
    subscription.stop()
    subscription.question = next(answer)
    subscription.sent = undefined
    subscription.goesOn = false
    start(subscription, answer.isPart ? undefined : { position, topics: answer.topics })
  }

  const start = (subscription: Subscription, seen?: Parameters<LiveQueries['watch']>[2]) => {
    const { id, question } = subscription
    let isFirst = seen === undefined
    const answer = (answer: Answer, position: bigint) => {
      // Until the client has what is on its way, nothing else is told: what happens meanwhile comes with the next value.
      if (subscription.goesOn) return
      const isNews = answer.value !== subscription.sent && (isFirst || !question.isNothing?.(answer))
      isFirst = false
      if (!isNews) return
      subscription.sent = answer.value
      const continues = question.next !== undefined && answer.revision !== undefined
      subscription.goesOn = continues
      waiting.set(id, {
        frame: resultFrame(id, answer.value),
        ...(continues ? { sent: () => goOn(subscription, answer, position) } : {}),
      })
      pump()
    }
    const withdraw = () => {
      if (!waiting.delete(id)) return
      subscription.goesOn = false
      subscription.sent = undefined
    }
    const failed = (error: unknown) => {
      drop(id)
      complain(error, id)
    }
    subscription.stop = live.watch(question, { answer, withdraw, failed }, seen)
  }

  const subscribe = ({ id, query, args }: Extract<ClientFrame, { type: 'subscribe' }>) => {
    drop(id)
    if (subscriptions.size >= maxSubscriptions)
      throw new HttpError('rate_limited', `A connection may hold ${maxSubscriptions} subscriptions`)
    const wait = takeTurn()
    if (wait !== undefined)
      throw new HttpError('rate_limited', `Too many requests; try again in ${Math.max(1, Math.ceil(wait / 1_000))} s`)
    const question = questionOf(query, args)
    if (question.token !== undefined) brings(question.token)
    const subscription: Subscription = { id, question, stop: () => {}, sent: undefined, goesOn: false }
    subscriptions.set(id, subscription)
    start(subscription)
  }

  const take = (frame: ClientFrame) => {
    switch (frame.type) {
      case 'subscribe':
        return subscribe(frame)
      case 'unsubscribe':
        return drop(frame.id)
      case 'ping':
        return say(PONG)
      case 'pong':
        return
    }
  }

  const close = (code: number, reason: string) => {
    if (isClosing) return
    isClosing = true
    for (const id of [...subscriptions.keys()]) drop(id)
    control.length = 0
    socket.close(code, reason)
    leaving = setTimeout(() => socket.terminate(), LEAVE_MS).unref()
  }

  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isClosing) return
    heardAt = performance.now()
    const frame = parse(data, isBinary)
    if (!frame) return say(errorFrame(UNUSABLE))
    try {
      take(frame)
    } catch (error) {
      complain(error, frame.type === 'subscribe' ? frame.id : undefined)
    }
    // Who talks without listening would have its answers pile up here.
    if (control.length > MAX_CONTROL) close(closeCodes.slow, 'reads too slowly')
  })
  for (const sign of ['ping', 'pong'] as const) socket.on(sign, () => (heardAt = performance.now()))
  socket.once('close', () => {
    isClosing = true
    clearTimeout(leaving)
    for (const id of [...subscriptions.keys()]) drop(id)
    closed()
  })

  return {
    heardAt: () => heardAt,
    sendingSince: () => sendingSince,
    subscriptions: () => subscriptions.size,
    ping: () => socket.ping(),
    close,
    terminate: () => socket.terminate(),
  }
}
