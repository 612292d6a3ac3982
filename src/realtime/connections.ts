import type { Progress } from '../http/reading-pace.ts'
import type { Connection } from './connection.ts'
import { closeCodes } from './close-codes.ts'
import type { Flow } from './flow.ts'
import type { RealtimeSettings } from './settings.ts'

/** All connections of this node, counted by session, or by address for those without one. */
export type Connections = {
  /** Whether a session or an address may open one more. */
  hasRoom(owner: Owner): boolean
  add(connection: Connection, owner: Owner): void
  /** The connection is that of another owner from now on; closes it when that one has too many. */
  move(connection: Connection, owner: Owner): void
  remove(connection: Connection): void
  /** Tells all clients to come back later, and waits until they have gone. */
  closeAll(): Promise<void>
  counts(): { readonly connections: number; readonly subscriptions: number }
}

/** Whose a connection is. */
export type Owner = { readonly is: 'session' | 'address'; readonly id: string }

/** Milliseconds. */
export type Timeouts = {
  /** How often connections are looked at. */
  readonly checkEvery: number
  readonly pingEvery: number
  /** For how long nothing may be heard of a client. */
  readonly silent: number
  /** For how long a client may take nothing of a frame, and for how long while others wait for its memory. */
  readonly stalled: number
  readonly stalledWhenCrowded: number
}

/**
 * A frame that is being sent: how often it was looked at since it began, and since the client took something of it. Looks are
 * counted instead of time, because a node that was busy itself sees no progress, whatever its clients take.
 */
type Sending = { readonly progress: Progress; readonly looks: number; readonly stalled: number }

/** While frames wait for others: what even many clients at once can take of a node's network. */
const CROWDED_BYTES_PER_MS = 250

const usual: Timeouts = {
  checkEvery: 2_000,
  pingEvery: 20_000,
  silent: 60_000,
  stalled: 15_000,
  stalledWhenCrowded: 3_000,
}
const LEAVE_MS = 1_500

const keyOf = ({ is, id }: Owner) => `${is} ${id}`

/** `closed` is told the code of each connection that is closed from here. */
export const newConnections = (
  settings: RealtimeSettings,
  flow: Pick<Flow, 'isCrowded'>,
  closed: (code: number) => void = () => {},
  timeouts = usual,
): Connections => {
  const owners = new Map<Connection, Owner>()
  const counted = new Map<string, number>()
  const sendings = new Map<Connection, Sending>()
  let pinged = performance.now()
  let gone = () => {}
  let isStopping = false
  const leaving = new Set<Connection>() // told to go already

  const most = ({ is }: Owner) =>
    is === 'session' ? settings.REALTIME_CONNECTIONS_SESSION : settings.REALTIME_CONNECTIONS_ADDRESS

  const count = (owner: Owner, by: number) => {
    const key = keyOf(owner)
    const now = (counted.get(key) ?? 0) + by
    if (now > 0) counted.set(key, now)
    else counted.delete(key)
  }

  const end = (connection: Connection, code: number, reason: string) => {
    if (leaving.has(connection)) return
    leaving.add(connection)
    closed(code)
    connection.close(code, reason)
  }

  /** A client that takes nothing is not told in time that it is to go: what it is being sent lies before that. */
  const cutOff = (connection: Connection) => {
    end(connection, closeCodes.slow, 'reads too slowly')
    if (flow.isCrowded()) connection.terminate()
  }

  const lookAtSending = (connection: Connection): Sending | undefined => {
    const progress = connection.progress()
    const before = sendings.get(connection)
    sendings.delete(connection)
    if (!progress) return undefined
    const isSame = before?.progress.began === progress.began
    const isStalled = isSame && before.progress.tookAt === progress.tookAt
    const sending = { progress, looks: isSame ? before.looks + 1 : 0, stalled: isStalled ? before.stalled + 1 : 0 }
    sendings.set(connection, sending)
    return sending
  }

  const isTooSlow = ({ progress, looks, stalled }: Sending) => {
    const { checkEvery, stalledWhenCrowded: most } = timeouts
    if (!flow.isCrowded()) return stalled * checkEvery > timeouts.stalled
    return stalled * checkEvery > most || looks * checkEvery > most + progress.takenBytes / CROWDED_BYTES_PER_MS
  }

  const hasRoom = (owner: Owner) => (counted.get(keyOf(owner)) ?? 0) < most(owner)

  const look = () => {
    const now = performance.now()
    const isDue = now - pinged >= timeouts.pingEvery
    if (isDue) pinged = now
    for (const connection of [...owners.keys()]) {
      const sending = lookAtSending(connection)
      if (now - connection.heardAt() > timeouts.silent)
        end(connection, closeCodes.silent, 'nothing was heard for a minute')
      else if (sending && isTooSlow(sending)) cutOff(connection)
      else if (isDue) connection.ping()
    }
  }
  let looking: NodeJS.Timeout | undefined

  const add: Connections['add'] = (connection, owner) => {
    owners.set(connection, owner)
    count(owner, 1)
    looking ??= setInterval(look, timeouts.checkEvery).unref()
    if (isStopping) end(connection, closeCodes.restarting, 'the service is stopping')
  }

  const remove: Connections['remove'] = (connection) => {
    const owner = owners.get(connection)
    if (!owner) return
    owners.delete(connection)
    leaving.delete(connection)
    sendings.delete(connection)
    count(owner, -1)
    if (owners.size > 0) return
    clearInterval(looking)
    looking = undefined
    gone()
  }

  const move: Connections['move'] = (connection, owner) => {
    const before = owners.get(connection)
    if (!before || keyOf(before) === keyOf(owner)) return
    if (!hasRoom(owner)) return end(connection, closeCodes.tooMany, 'too many connections of this session')
    count(before, -1)
    count(owner, 1)
    owners.set(connection, owner)
  }

  const closeAll = async () => {
    isStopping = true
    if (owners.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    gone = resolve
    for (const connection of [...owners.keys()]) end(connection, closeCodes.restarting, 'the service is stopping')
    const timer = setTimeout(resolve, LEAVE_MS)
    await promise
    clearTimeout(timer)
    for (const connection of [...owners.keys()]) connection.terminate()
  }

  const counts = () => ({
    connections: owners.size,
    subscriptions: [...owners.keys()].reduce((sum, connection) => sum + connection.subscriptions(), 0),
  })

  return { hasRoom, add, move, remove, closeAll, counts }
}
