import { closeCodes } from '../close-codes.ts'
import type { FrameError, ServerFrame } from '../frames.ts'
import { type Backoff, newBackoff } from './backoff.ts'
import type { ArgsOf, QueryName, ValueOf } from '../realtime.ts'

/** The callbacks of a subscription. After a lost connection, `value` may be called again with an equal value. */
export type Listener<Value> = {
  readonly value: (value: Value) => void
  /** The service has refused the subscription, which has ended. */
  readonly failed?: (error: FrameError) => void
}

/** `waiting`: for `ms` milliseconds before the next attempt to connect. `code`: the close code of the last connection, 1006 without one. */
export type State =
  | { readonly is: 'connecting' | 'open' | 'closed' }
  | { readonly is: 'waiting'; readonly ms: number; readonly code: number }

/** Realtime queries over one connection, which is opened again whenever it is lost. No change is missed: see `subscribe`. */
export type RealtimeClient = {
  /**
   * Calls the listener with the query's value at once and after each change, until the returned function is called. A function `args` is
   * called each time that the query is subscribed to: first now, and again on each new connection.
   */
  subscribe<Name extends QueryName>(
    query: Name,
    args: ArgsOf<Name> | (() => ArgsOf<Name>),
    listener: Listener<ValueOf<Name>>,
  ): () => void
  close(): void
}

/** The WebSocket of browsers, which Node has as well. */
type Socket = Pick<WebSocket, 'send' | 'close' | 'addEventListener'>

type RealtimeClientOptions = {
  /** The http(s) address of the service, without a trailing slash. */
  readonly server: string
  readonly connect?: (url: string) => Socket
  /** Parses a frame; `JSON.parse`, which rounds large integers, by default. */
  readonly parse?: (text: string) => unknown
  /** Called with each change of the connection's state. */
  readonly state?: (state: State) => void
  /** Returns numbers from 0 to 1. */
  readonly random?: () => number
}

type ClientSubscription = {
  readonly query: QueryName
  readonly args: () => object
  readonly listener: Listener<never>
  readonly backoff: Backoff
  retry?: ReturnType<typeof setTimeout>
}

/** How often the client pings, so that it notices a connection that was lost silently. */
const PING_MS = 20_000
/** If no frame comes for this long after a ping, the connection counts as lost. Hidden pages may ping later. */
const ANSWER_MS = 25_000
/** After a connection that has lasted this long, the next attempt comes soon. */
const LASTING_MS = 10_000
/** The first wait if the service has too many connections of this client: others have to close first. */
const CROWDED_MS = 10_000
const NO_CODE = 1006

/** Refusals that may be temporary. */
const TEMPORARY: ReadonlySet<string> = new Set(['rate_limited', 'unavailable', 'internal'])

const addressOf = (server: string) => `${server.replace(/^http/, 'ws')}/v1/realtime`

/** One connection: calls back with its frames, until it is closed by either side or lost. */
const open = (
  { server, connect = (url) => new WebSocket(url), parse = JSON.parse }: RealtimeClientOptions,
  on: { opened(): void; frame(frame: ServerFrame): void; gone(code: number): void },
) => {
  const socket = connect(addressOf(server))
  let isOpen = false
  let isGone = false
  let unanswered: ReturnType<typeof setTimeout> | undefined

  const end = (code: number) => {
    if (isGone) return
    isGone = true
    clearInterval(pinging)
    clearTimeout(unanswered)
    on.gone(code)
  }
  const leave = (code: number) => {
    socket.close()
    end(code)
  }
  const say = (frame: object) => isOpen && !isGone && socket.send(JSON.stringify(frame))
  const pinging = setInterval(() => {
    say({ type: 'ping' })
    unanswered ??= setTimeout(() => leave(NO_CODE), ANSWER_MS)
  }, PING_MS)

  socket.addEventListener('open', () => {
    if (isGone) return socket.close()
    isOpen = true
    on.opened()
  })
  socket.addEventListener('message', ({ data }: MessageEvent) => {
    if (isGone) return
    clearTimeout(unanswered)
    unanswered = undefined
    on.frame(parse(String(data)) as ServerFrame)
  })
  socket.addEventListener('close', ({ code }) => end(code))
  socket.addEventListener('error', () => {}) // a close follows
  return { say, leave: () => leave(1000) }
}

/** A client of `GET /v1/realtime`. It connects with the first subscription. */
export const newRealtimeClient = (options: RealtimeClientOptions): RealtimeClient => {
  const { state = () => {}, random } = options
  const all = new Map<string, ClientSubscription>()
  const [backoff, crowded] = [newBackoff(random), newBackoff(random, CROWDED_MS)]
  let connection: ReturnType<typeof open> | undefined
  let waiting: ReturnType<typeof setTimeout> | undefined
  let openedAt = Number.POSITIVE_INFINITY
  let count = 0
  let isClosed = false

  const ask = (id: string) => {
    const one = all.get(id)
    if (one) connection?.say({ type: 'subscribe', id, query: one.query, args: one.args() })
  }

  const refused = (id: string, error: FrameError) => {
    const one = all.get(id)
    if (!one) return
    if (TEMPORARY.has(error.code)) {
      one.retry = setTimeout(() => ask(id), one.backoff.next())
      return
    }
    all.delete(id)
    one.listener.failed?.(error)
  }

  const frame = (frame: ServerFrame) => {
    if (frame.type === 'error' && frame.id !== undefined) return refused(frame.id, frame.error)
    if (frame.type !== 'result') return
    const one = all.get(frame.id)
    if (!one) return
    one.backoff.reset()
    one.listener.value(frame.value as never)
  }

  // `state` is called last, because it may subscribe or close.
  const gone = (code: number) => {
    connection = undefined
    for (const { retry } of all.values()) clearTimeout(retry)
    if (isClosed) return
    if (performance.now() - openedAt > LASTING_MS) for (const one of [backoff, crowded]) one.reset()
    openedAt = Number.POSITIVE_INFINITY
    const ms = (code === closeCodes.tooMany ? crowded : backoff).next()
    waiting = setTimeout(connectNow, ms)
    state({ is: 'waiting', ms, code })
  }

  const opened = () => {
    openedAt = performance.now()
    for (const id of all.keys()) ask(id)
    state({ is: 'open' })
  }

  const connectNow = () => {
    waiting = undefined
    connection = open(options, { opened, frame, gone })
    state({ is: 'connecting' })
  }

  const subscribe: RealtimeClient['subscribe'] = (query, args, listener) => {
    if (isClosed) return () => {}
    const id = String(++count)
    const given = typeof args === 'function' ? args : () => args
    all.set(id, { query, args: given, listener: listener as Listener<never>, backoff: newBackoff(random) })
    if (connection) ask(id)
    else if (!waiting) connectNow()
    return () => {
      clearTimeout(all.get(id)?.retry)
      if (all.delete(id)) connection?.say({ type: 'unsubscribe', id })
    }
  }

  const close = () => {
    if (isClosed) return
    isClosed = true
    clearTimeout(waiting)
    for (const { retry } of all.values()) clearTimeout(retry)
    all.clear()
    connection?.leave()
    state({ is: 'closed' })
  }

  return { subscribe, close }
}
