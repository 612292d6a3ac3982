import { REQUEST_WAIT_MS } from './waits.ts'

/** There is no room for the request now, and nothing was stored. The message is for the client. */
export class Busy extends Error {
  override readonly name = 'Busy'
}

/** Who holds permits. Not a session or a connection, because a client can make any number of these. */
export type Client = {
  /** `user:<id>` of a signed-in client, else its `net`. */
  readonly id: string
  /** `net:<IPv4 address or IPv6 /64>`: the network that the client comes from. */
  readonly net: string
}

/** A share of the capacity, which a client holds. */
export type Permit = {
  size(): number
  /** Changes the size, even beyond what is free: for what is in memory already. */
  resize(size: number): void
  /** Records how much more the client has sent or read. */
  moved(size: number): void
  /** Until the next `moved` the client waits for the service, so it does not count as slow. */
  rest(): void
  release(): void
}

/** Called when the holder of a permit has to yield; the permit is released already. */
type Yield = (reason: Busy) => void

/** What all clients of a node hold of one kind, such as bytes of memory. `server/http/README.md` has the rules. */
export type Permits = {
  readonly capacity: number
  /**
   * Waits until a share of this size is free; a size above the capacity counts as the capacity. Without `onYield` the permit never has to yield.
   * @throws Busy if there was no room in time; the reason of `signal` if it aborts or has aborted
   */
  acquire(client: Client, size: number, onYield?: Yield, signal?: AbortSignal): Promise<Permit>
  /** Takes a permit at once; undefined if there is no room. */
  tryAcquire(client: Client, size: number, onYield?: Yield): Permit | undefined
  /** Takes a permit even if there is no room: for what is in memory already. */
  hold(client: Client, size: number, onYield?: Yield): Permit
  /** The client that would be served first, of at least one. */
  first(clients: Iterable<Client>): Client
  /** To be called every `TICK_MS`. A late tick counts as one, so that clients are not blamed when the node itself was busy. */
  tick(): void
  held(): number
  waiting(): number
}

export type PermitsOptions = {
  readonly capacity: number
  /** What is counted, for error texts: "request bodies". */
  readonly things: string
  /** How much a holder has to move per tick, on average over a second, while others wait. Default: 0, so that none has to yield. */
  readonly minPace?: number
  /** For how many ticks a new holder does not count as slow. Default: those of a second. */
  readonly graceTicks?: number
  /** For how many ticks a holder may move nothing before it has to yield, even if none waits. Default: any number. */
  readonly silentTicks?: number
  /** For how many ticks `acquire` waits. Default: as long as a request waits. */
  readonly waitTicks?: number
  /** Whether held permits may grow beyond the capacity, in which case a holder has to yield even if none is slow. */
  readonly grows?: boolean
}

export const TICK_MS = 200
const SECOND = 1_000 / TICK_MS

type Holding = Permit & {
  readonly client: Client
  readonly onYield: Yield | undefined
  isSlow(): boolean
  /** Whether it has moved nothing for too long, although the service does not make it wait. */
  isSilent(): boolean
  /** How many ticks the holder would take to move all that it holds. */
  ticksToMove(): number
  age(): void
}

type Waiter = {
  readonly client: Client
  readonly size: number
  readonly onYield: Yield | undefined
  ticks: number
  readonly admit: (permit: Permit) => void
  readonly refuse: (error: unknown) => void
}

const sumsByKey = () => {
  const sums = new Map<string, number>()
  const of = (key: string) => sums.get(key) ?? 0
  const add = (key: string, by: number) => {
    const sum = of(key) + by
    if (sum > 0) sums.set(key, sum)
    else sums.delete(key)
  }
  return { of, add, all: (): ReadonlyMap<string, number> => sums }
}

/** Those who wait, the oldest first: a line for each client of each net, so that the next one is found by clients, however many wait. */
const newLines = () => {
  const nets = new Map<string, Map<string, Set<Waiter>>>()
  let size = 0

  const add = (waiter: Waiter) => {
    const { id, net } = waiter.client
    const lines = nets.get(net) ?? new Map<string, Set<Waiter>>()
    const line = lines.get(id) ?? new Set()
    nets.set(net, lines.set(id, line.add(waiter)))
    size += 1
  }

  /** Does nothing if it does not wait any more. */
  const remove = (waiter: Waiter) => {
    const { id, net } = waiter.client
    const lines = nets.get(net)
    const line = lines?.get(id)
    if (!line?.delete(waiter)) return
    size -= 1
    if (line.size === 0) lines!.delete(id)
    if (lines!.size === 0) nets.delete(net)
  }

  function* all() {
    for (const lines of nets.values()) for (const line of lines.values()) yield* line
  }

  /** The oldest of each client. */
  function* heads() {
    for (const lines of nets.values()) for (const line of lines.values()) yield line.values().next().value!
  }

  return { size: () => size, add, remove, all, heads }
}

/** The item with the largest value; the first of several. */
const mostOf = <T>(items: Iterable<T>, value: (item: T) => number): T | undefined => {
  let [most, found]: [number, T | undefined] = [-Infinity, undefined]
  for (const item of items) if (value(item) > most) [most, found] = [value(item), item]
  return found
}

export const newPermits = (options: PermitsOptions): Permits => {
  const { capacity, things, minPace = 0, graceTicks = SECOND, silentTicks = Infinity, grows = false } = options
  const { waitTicks = REQUEST_WAIT_MS / TICK_MS } = options
  const holdings = new Set<Holding>()
  const waiters = newLines()
  const [nets, clients] = [sumsByKey(), sumsByKey()]
  /** When nets and clients were served last, kept while others wait. */
  const turns = new Map<string, number>()
  let turn = 0
  let used = 0
  let isSettling = false

  const count = ({ id, net }: Client, by: number) => {
    used += by
    nets.add(net, by)
    clients.add(id, by)
  }

  const hold = (client: Client, initialSize: number, onYield?: Yield): Holding => {
    let [size, movedNow, silent, isResting] = [initialSize, 0, 0, false]
    let recent: number[] = []
    const pace = () => recent.reduce((sum, moved) => sum + moved, 0) / recent.length
    const resize = (next: number) => {
      if (!holdings.has(holding)) return
      count(client, next - size)
      size = next
      settle()
    }
    const age = () => {
      recent = isResting ? [] : [...recent.slice(1 - SECOND), movedNow]
      silent = isResting || movedNow > 0 ? 0 : silent + 1
      movedNow = 0
    }
    const holding: Holding = {
      client,
      onYield,
      size: () => size,
      resize,
      moved: (by) => {
        isResting = false
        movedNow += by
      },
      rest: () => {
        isResting = true
      },
      release: () => {
        if (!holdings.has(holding)) return
        count(client, -size)
        holdings.delete(holding)
        settle()
      },
      isSlow: () => !isResting && recent.length >= graceTicks && !(pace() >= minPace),
      isSilent: () => silent >= silentTicks,
      ticksToMove: () => size / (pace() || 0),
      age,
    }
    holdings.add(holding)
    count(client, size)
    return holding
  }

  const turnOf = (key: string) => turns.get(key) ?? 0
  const comesBefore = (one: Client, other: Client) =>
    nets.of(one.net) - nets.of(other.net) ||
    turnOf(one.net) - turnOf(other.net) ||
    clients.of(one.id) - clients.of(other.id) ||
    turnOf(one.id) - turnOf(other.id)

  const first: Permits['first'] = (clients) =>
    [...clients].reduce((one, other) => (comesBefore(other, one) < 0 ? other : one))

  const nextWaiter = (): Waiter | undefined => {
    let next: Waiter | undefined
    for (const waiter of waiters.heads()) if (!next || comesBefore(waiter.client, next.client) < 0) next = waiter
    return next
  }

  const leave = (waiter: Waiter) => {
    waiters.remove(waiter)
    turn += 1
    for (const key of [waiter.client.net, waiter.client.id]) turns.set(key, turn)
    if (waiters.size() === 0) turns.clear()
  }

  /** The nets that hold and ask for more than their share, the largest first. */
  const netsAboveShare = (): string[] => {
    const wanted = new Map(nets.all())
    for (const { client, size } of waiters.all()) wanted.set(client.net, (wanted.get(client.net) ?? 0) + size)
    const share = capacity / wanted.size
    return [...wanted]
      .filter(([, sum]) => sum > share)
      .sort(([, a], [, b]) => b - a)
      .map(([net]) => net)
  }

  const mayYield = ({ onYield }: Holding) => onYield !== undefined

  const slowest = (): Holding | undefined => {
    if (minPace === 0) return undefined
    for (const net of netsAboveShare()) {
      const slow = [...holdings].filter((one) => one.client.net === net && mayYield(one) && one.isSlow())
      const found = mostOf(slow, (one) => one.ticksToMove())
      if (found) return found
    }
    return undefined
  }

  /** The oldest holding of the largest client in the largest net. */
  const largest = (): Holding | undefined => {
    const yielding = [...holdings].filter(mayYield)
    const net = mostOf(yielding, ({ client }) => nets.of(client.net))?.client.net
    const inNet = yielding.filter(({ client }) => client.net === net)
    return mostOf(inNet, ({ client }) => clients.of(client.id))
  }

  const makeYield = (holding: Holding, message: string) => {
    holding.release()
    holding.onYield!(new Busy(message))
  }

  /** Admits waiters that fit, and makes holders yield for those that do not. */
  const settleAll = () => {
    for (;;) {
      const next = nextWaiter()
      if (next && used + next.size <= capacity) {
        leave(next)
        next.admit(hold(next.client, next.size, next.onYield))
      } else if (next || (grows && used > capacity)) {
        const slow = slowest()
        const yielding = slow ?? (grows && used > capacity ? largest() : undefined)
        if (!yielding) return
        const are = slow ? 'moved slowest' : 'take up the most'
        makeYield(yielding, `There are too many ${things}, and yours ${are}: try again later`)
      } else return
    }
  }

  const endSilent = () => {
    const seconds = (silentTicks * TICK_MS) / 1_000
    for (const holding of [...holdings])
      if (mayYield(holding) && holding.isSilent())
        makeYield(holding, `Nothing has moved for ${seconds} s of your ${things}: try again`)
  }

  const settle = () => {
    if (isSettling || (waiters.size() === 0 && used <= capacity)) return
    isSettling = true
    try {
      settleAll()
    } finally {
      isSettling = false
    }
  }

  const tryAcquire: Permits['tryAcquire'] = (client, wanted, onYield) => {
    const size = Math.min(wanted, capacity)
    if (waiters.size() === 0 && used + size <= capacity) return hold(client, size, onYield)
    return undefined
  }

  const wait = async (client: Client, size: number, onYield?: Yield, signal?: AbortSignal): Promise<Permit> => {
    const { promise, resolve: admit, reject } = Promise.withResolvers<Permit>()
    const refuse = (error: unknown) => {
      waiters.remove(waiter)
      reject(error)
      settle()
    }
    const waiter: Waiter = { client, size, onYield, ticks: 0, admit, refuse }
    const onAbort = () => refuse(signal!.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    waiters.add(waiter)
    settle()
    return promise.finally(() => signal?.removeEventListener('abort', onAbort))
  }

  const acquire: Permits['acquire'] = async (client, size, onYield, signal) => {
    signal?.throwIfAborted()
    return tryAcquire(client, size, onYield) ?? wait(client, Math.min(size, capacity), onYield, signal)
  }

  const tick = () => {
    if (graceTicks > 0) for (const holding of holdings) holding.age()
    if (silentTicks < Infinity) endSilent()
    for (const waiter of [...waiters.all()])
      if (++waiter.ticks > waitTicks)
        waiter.refuse(new Busy(`There are too many ${things}, and no room came free in time: try again later`))
    settle()
  }

  return { capacity, acquire, tryAcquire, hold, first, tick, held: () => used, waiting: waiters.size }
}
