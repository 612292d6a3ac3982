import type { Connection } from './connection.ts'
import { closeCodes } from '../contract/close-codes.ts'
import type { RealtimeSettings } from './settings.ts'

/** All connections of this node, counted by address, and by session or as those of an address without one. */
export type Connections = {
  /** What has too many already, so that the owner may not open one more. */
  crowded(owner: Owner): 'session' | 'address' | undefined
  add(connection: Connection, owner: Owner): void
  /** The connection is that of another owner from now on; closes it when that one has too many. */
  move(connection: Connection, owner: Owner): void
  /** Closes one that takes what it is sent too slowly, while others need the memory. */
  cutOff(connection: Connection): void
  remove(connection: Connection): void
  /** Tells all clients to come back later, and waits until they have gone. */
  closeAll(): Promise<void>
  counts(): { readonly connections: number; readonly subscriptions: number }
}

/** Whose a connection is; `address` is where it comes from. */
export type Owner = { readonly session?: string | undefined; readonly address: string }

/** Milliseconds. */
export type Timeouts = {
  /** How often connections are looked at. */
  readonly checkEvery: number
  readonly pingEvery: number
  /** For how long nothing may be heard of a client. */
  readonly silent: number
  /** For how long a client may take nothing of a frame. */
  readonly stalled: number
}

/**
 * What a client had taken when it was looked at, and how often it was looked at since. Looks are counted instead of time, because
 * a node that was busy itself sees no progress, whatever its clients take.
 */
type Sending = { readonly taken: number; readonly looks: number }

const usual: Timeouts = { checkEvery: 2_000, pingEvery: 20_000, silent: 60_000, stalled: 15_000 }
const LEAVE_MS = 1_500

/** Sessions are free to make: all connections of an address, with and without one, are so many times what it has without one. */
const WITH_SESSIONS = 4

const SLOW = 'reads too slowly'

type Counted = { readonly key: string; readonly most: number }

/** `closed` is told the code of each connection that is closed from here. */
export const newConnections = (
  settings: RealtimeSettings,
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

  const { REALTIME_CONNECTIONS_SESSION: mostOfSession, REALTIME_CONNECTIONS_ADDRESS: mostOfAddress } = settings

  const ownOf = ({ session, address }: Owner): Counted =>
    session === undefined
      ? { key: `address ${address}`, most: mostOfAddress }
      : { key: `session ${session}`, most: mostOfSession }

  const allOf = ({ address }: Owner): Counted => ({ key: `all ${address}`, most: WITH_SESSIONS * mostOfAddress })

  const countOne = ({ key }: Counted, by: number) => {
    const now = (counted.get(key) ?? 0) + by
    if (now > 0) counted.set(key, now)
    else counted.delete(key)
  }

  const count = (owner: Owner, by: number) => {
    for (const one of [ownOf(owner), allOf(owner)]) countOne(one, by)
  }

  const hasRoomFor = ({ key, most }: Counted) => (counted.get(key) ?? 0) < most

  const end = (connection: Connection, code: number, reason: string) => {
    if (leaving.has(connection)) return
    leaving.add(connection)
    closed(code)
    connection.close(code, reason)
  }

  /** A client that takes nothing is not told in time that it is to go: what it is being sent lies before that. */
  const cutOff = (connection: Connection) => {
    end(connection, closeCodes.slow, SLOW)
    connection.terminate()
  }

  /** Whether a client takes nothing of what it is sent. */
  const isStalled = (connection: Connection): boolean => {
    const taken = connection.taken()
    const before = sendings.get(connection)
    sendings.delete(connection)
    if (taken === undefined) return false
    const looks = before?.taken === taken ? before.looks + 1 : 0
    sendings.set(connection, { taken, looks })
    return looks * timeouts.checkEvery > timeouts.stalled
  }

  const crowded: Connections['crowded'] = (owner) => {
    if (!hasRoomFor(ownOf(owner))) return owner.session === undefined ? 'address' : 'session'
    return hasRoomFor(allOf(owner)) ? undefined : 'address'
  }

  const look = () => {
    const now = performance.now()
    const isDue = now - pinged >= timeouts.pingEvery
    if (isDue) pinged = now
    for (const connection of [...owners.keys()]) {
      const stalled = isStalled(connection)
      if (now - connection.heardAt() > timeouts.silent)
        end(connection, closeCodes.silent, 'nothing was heard for a minute')
      else if (stalled) end(connection, closeCodes.slow, SLOW)
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
    if (!before || ownOf(before).key === ownOf(owner).key) return
    if (!hasRoomFor(ownOf(owner))) return end(connection, closeCodes.tooMany, 'too many connections of this session')
    countOne(ownOf(before), -1)
    countOne(ownOf(owner), 1)
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

  return { crowded, add, move, cutOff, remove, closeAll, counts }
}
