import type { WebSocket } from 'ws'
import { HttpError } from '../http/http-error.ts'
import { describe } from '../http/errors.ts'
import { tooManyRequests } from '../http/limits.ts'
import type { Progress } from '../http/reading-pace.ts'
import type { Flow } from './flow.ts'
import type { Current, LiveQueries, Query, Seen, Subscription } from './live-queries.ts'
import { closeCodes } from './close-codes.ts'
import { newFrameSender } from './frame-sender.ts'
import { ClientFrame, errorFrame } from './protocol.ts'
import type { Question } from './question.ts'

/** One client that is connected. Times are milliseconds that only move forward. */
export type Connection = {
  /** When it was heard of last. */
  heardAt(): number
  /** How far it has taken what it is being sent; undefined while it is sent nothing. */
  progress(): Progress | undefined
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
  readonly takeTurn: () => number | undefined
  readonly flow: Flow
  /** Told of each failure that is not the client's. */
  readonly broke: (error: unknown) => void
  readonly pushed: (frames: number) => void
  readonly closed: () => void
}

type Followed = {
  readonly id: string
  subscription: Subscription | undefined
  /** The digest of the value that the client was sent last. */
  sent: string | undefined
  /** Nothing was told to it yet. */
  isFirst: boolean
  /** A value is on its way after which the question is another one. */
  goesOn: boolean
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
const UNUSABLE = { code: 'invalid_request', message: 'This is no frame of the realtime interface' }

/** A client that has been told to go, and does not, is gone after this. */
const LEAVE_MS = 10_000
const MAX_CONTROL = 1_000

/**
 * Answers one client. One frame is on its way at a time; what waits is no value, but that there is one: a client that reads
 * slowly costs no memory, and gets what is newest, and may still be read, when it comes to it.
 */
export const newConnection = (options: ConnectionOptions): Connection => {
  const { socket, live, maxSubscriptions, questionOf, admit, takeTurn, flow, broke, pushed, closed } = options
  const followed = new Map<string, Followed>()
  /** Subscriptions with a value that the client does not have, in the order in which they are due. */
  const due = new Set<string>()
  const control: string[] = []
  let heardAt = performance.now()
  let isClosing = false
  let leaving: NodeJS.Timeout | undefined

  const hasNews = ({ sent, isFirst }: Followed, { answer, digest }: Current) =>
    digest !== sent && (isFirst || !answer.hasNoNews)

  /** Sends the newest value of a subscription, if there is one that the client does not have. False where that has to wait. */
  const push = (one: Followed): boolean => {
    const current = one.subscription?.current()
    if (!current || !hasNews(one, current)) return true
    const { answer, digest, frame, seen } = current
    const sent = () => {
      if (answer.next && followed.get(one.id) === one) follow(one, answer.next, answer.hasMore ? undefined : seen)
    }
    if (!sender.send(frame(one.id), sent)) return false
    one.isFirst = false
    one.sent = digest
    one.goesOn = answer.next !== undefined
    pushed(1)
    return true
  }

  /** Sends what is due, one frame at a time: errors and pongs first, then values. */
  const pump = () => {
    while (!sender.isSending() && socket.readyState === socket.OPEN) {
      const said = control.shift()
      if (said !== undefined) return void sender.send(Buffer.from(said))
      const [id] = due
      if (id === undefined || !push(followed.get(id)!)) return
      due.delete(id)
    }
  }

  const sender = newFrameSender(socket, flow, pump)

  const say = (frame: string) => {
    control.push(frame)
    pump()
  }

  const drop = (id: string) => {
    followed.get(id)?.subscription?.stop()
    followed.delete(id)
    due.delete(id)
  }

  const complain = (error: unknown, id?: string) => {
    const { code, message, details } = describe(error)
    if (code === 'internal') broke(error)
    say(errorFrame({ code, message, ...(details === undefined ? {} : { details }) }, id))
  }

  /** Follows a query from here on, with `seen` from behind that. */
  const follow = (one: Followed, query: Query, seen?: Seen) => {
    const { id } = one
    one.subscription?.stop()
    one.sent = undefined
    one.goesOn = false
    const changed = () => {
      // Until the client has what is on its way, nothing else is told: what happens meanwhile comes with the next value.
      if (one.goesOn) return
      due.add(id)
      pump()
    }
    const failed = (error: unknown) => {
      drop(id)
      complain(error, id)
    }
    one.subscription = live.watch(query, { changed, failed }, seen)
  }

  const refuse = (error: unknown, one: Followed) => {
    if (followed.get(one.id) !== one) return
    drop(one.id)
    complain(error, one.id)
  }

  const subscribe = ({ id, query, args }: Extract<ClientFrame, { type: 'subscribe' }>) => {
    drop(id)
    if (followed.size >= maxSubscriptions)
      throw new HttpError('rate_limited', `A connection may hold ${maxSubscriptions} subscriptions`)
    const wait = takeTurn()
    if (wait !== undefined) throw tooManyRequests(wait)
    const question = questionOf(query, args)
    const one: Followed = { id, subscription: undefined, sent: undefined, isFirst: true, goesOn: false }
    followed.set(id, one)
    if (question.token === undefined) return follow(one, question)
    admit(question.token).then(
      () => followed.get(id) === one && follow(one, question),
      (error: unknown) => refuse(error, one),
    )
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
    for (const id of [...followed.keys()]) drop(id)
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
    sender.end()
    clearTimeout(leaving)
    for (const id of [...followed.keys()]) drop(id)
    closed()
  })

  return {
    heardAt: () => heardAt,
    progress: sender.progress,
    subscriptions: () => followed.size,
    ping: () => socket.ping(),
    close,
    terminate: () => socket.terminate(),
  }
}
