import { REQUEST_WAIT_MS } from './waits.ts'

/** There is no room for this one now; the message is for the client. Nothing was stored. */
export class Busy extends Error {
  override readonly name = 'Busy'
}

/** Who holds something: never a session or a connection, which are free to make. */
export type Client = {
  /** `user:<id>`, else the net. */
  readonly id: string
  /** `net:<IPv4 address or IPv6 /64>`. */
  readonly net: string
}

/** A part of what there is. */
export type Permit = {
  size(): number
  /** Changes the size, also to more than is free: it is for what is in memory already. */
  resize(size: number): void
  /** The client has given or taken so much more. */
  moved(size: number): void
  /** Until the next `moved` the service itself is waited for: the client is not slow meanwhile. */
  rest(): void
  release(): void
}

/** Called when a holder has to yield: its permit is released already. */
export type Yield = (reason: Busy) => void

/** What all clients of a node hold of one thing, such as bytes of memory. The rule is in `http/README.md`. */
export type Permits = {
  readonly capacity: number
  /**
   * Waits until so much is free; more than the capacity counts as all of it. Without `onYield` it never has to yield.
   * @throws Busy when nothing came free in time; what `signal` is aborted with
   */
  acquire(client: Client, size: number, onYield?: Yield, signal?: AbortSignal): Promise<Permit>
  /** The same at once; undefined where there is no room. */
  tryAcquire(client: Client, size: number, onYield?: Yield): Permit | undefined
  /** The same where there is no room either: it is for what is in memory already. */
  hold(client: Client, size: number, onYield?: Yield): Permit
  /** Of some clients, at least one, the one that would be served first. */
  first(clients: Iterable<Client>): Client
  /** To be called every `TICK_MS`. One that comes late counts as one: a node that was busy itself does not blame its clients. */
  tick(): void
  held(): number
  waiting(): number
}

export type PermitsOptions = {
  readonly capacity: number
  /** What there is too much of, as messages say it: "request bodies". */
  readonly things: string
  /** What a holder must move in a tick, on the average of a second, while somebody waits. Default: nobody yields. */
  readonly minPace?: number
  /** For how many ticks a holder is not judged. Default: a second. */
  readonly graceTicks?: number
  /** For how many ticks one waits. Default: as long as a request waits. */
  readonly waitTicks?: number
  /** Whether holders grow by themselves, so that beyond the capacity one has to yield, slow or not. */
  readonly grows?: boolean
}

export const TICK_MS = 200
const SECOND = 1_000 / TICK_MS

type Holding = Permit & {
  readonly client: Client
  readonly onYield: Yield | undefined
  isSlow(): boolean
  /** How many ticks it would take to move what it holds. */
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

/** The item of which something is most; of several the first. */
const mostOf = <T>(items: Iterable<T>, value: (item: T) => number): T | undefined => {
  let [most, found]: [number, T | undefined] = [-Infinity, undefined]
  for (const item of items) if (value(item) > most) [most, found] = [value(item), item]
  return found
}

export const newPermits = (options: PermitsOptions): Permits => {
  const { capacity, things, minPace = 0, graceTicks = SECOND, grows = false } = options
  const { waitTicks = REQUEST_WAIT_MS / TICK_MS } = options
  const holdings = new Set<Holding>()
  const waiters = new Set<Waiter>()
  const [nets, clients] = [sumsByKey(), sumsByKey()]
  /** When nets and clients were served last, as long as anybody waits. */
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
    let [size, movedNow, isResting] = [initialSize, 0, false]
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
    for (const waiter of waiters) if (!next || comesBefore(waiter.client, next.client) < 0) next = waiter
    return next
  }

  const leave = (waiter: Waiter) => {
    waiters.delete(waiter)
    turn += 1
    for (const key of [waiter.client.net, waiter.client.id]) turns.set(key, turn)
    if (waiters.size === 0) turns.clear()
  }

  /** Nets that hold and ask for more than their share, the largest first. */
  const netsAboveShare = (): string[] => {
    const wanted = new Map(nets.all())
    for (const { client, size } of waiters) wanted.set(client.net, (wanted.get(client.net) ?? 0) + size)
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

  /** The oldest of the largest client of the largest net. */
  const largest = (): Holding | undefined => {
    const yielding = [...holdings].filter(mayYield)
    const net = mostOf(yielding, ({ client }) => nets.of(client.net))?.client.net
    const inNet = yielding.filter(({ client }) => client.net === net)
    return mostOf(inNet, ({ client }) => clients.of(client.id))
  }

  const makeYield = (holding: Holding) => {
    holding.release()
    holding.onYield!(new Busy(`There are too many ${things}, and those of ${holding.client.id} moved slowest`))
  }

  /** Admits who fits, and has others yield for who does not. */
  const settleAll = () => {
    for (;;) {
      const next = nextWaiter()
      if (next && used + next.size <= capacity) {
        leave(next)
        next.admit(hold(next.client, next.size, next.onYield))
      } else if (next || (grows && used > capacity)) {
        const yielding = slowest() ?? (grows && used > capacity ? largest() : undefined)
        if (!yielding) return
        makeYield(yielding)
      } else return
    }
  }

  const settle = () => {
    if (isSettling || (waiters.size === 0 && used <= capacity)) return
    isSettling = true
    try {
      settleAll()
    } finally {
      isSettling = false
    }
  }

  const tryAcquire: Permits['tryAcquire'] = (client, wanted, onYield) => {
    const size = Math.min(wanted, capacity)
    if (waiters.size === 0 && used + size <= capacity) return hold(client, size, onYield)
    return undefined
  }

  const wait = async (client: Client, size: number, onYield?: Yield, signal?: AbortSignal): Promise<Permit> => {
    const { promise, resolve: admit, reject } = Promise.withResolvers<Permit>()
    const refuse = (error: unknown) => {
      waiters.delete(waiter)
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

  const acquire: Permits['acquire'] = async (client, size, onYield, signal) =>
    tryAcquire(client, size, onYield) ?? wait(client, Math.min(size, capacity), onYield, signal)

  const tick = () => {
    if (graceTicks > 0) for (const holding of holdings) holding.age()
    for (const waiter of [...waiters])
      if (++waiter.ticks > waitTicks)
        waiter.refuse(new Busy(`There are too many ${things}, and none came free in time`))
    settle()
  }

  return { capacity, acquire, tryAcquire, hold, first, tick, held: () => used, waiting: () => waiters.size }
}

/** Runs work that holds one of what there is. @throws Busy */
export const withPermit = async <T>(permits: Permits, client: Client, work: () => Promise<T>): Promise<T> => {
  const permit = await permits.acquire(client, 1)
  try {
    return await work()
  } finally {
    permit.release()
  }
}
