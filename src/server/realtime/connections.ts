import type { Connection } from './connection.ts'
import { closeCodes } from '../../contract/close-codes.ts'
import type { RealtimeSettings } from './settings.ts'

/** All connections of this node, counted by address and by session. */
export type Connections = {
  /** Which of the owner's limits does not allow one more connection; undefined if none. */
  crowded(owner: Owner): 'session' | 'address' | undefined
  add(connection: Connection, owner: Owner): void
  /** Counts the connection for another owner; closes it if that owner has too many. */
  move(connection: Connection, owner: Owner): void
  /** Closes a connection whose client reads too slowly, while others need the memory. */
  cutOff(connection: Connection): void
  remove(connection: Connection): void
  /** Closes all connections with a code that tells clients to reconnect, and waits until they are gone. */
  closeAll(): Promise<void>
  counts(): { readonly connections: number; readonly subscriptions: number }
}

/** The owner of a connection; `address` is the one it comes from. */
export type Owner = { readonly session?: string | undefined; readonly address: string }

/** Milliseconds. */
type Timeouts = {
  /** How often connections are checked. */
  readonly checkEvery: number
  readonly pingEvery: number
  /** How long a client may send nothing. */
  readonly silent: number
  /** How long a client may read nothing of a frame. */
  readonly stalled: number
}

/**
 * How many bytes a client had read at a check, and how many checks have found the same number since. Checks are counted instead of
 * time, because a node that was busy itself sees no progress of its clients.
 */
type Sending = { readonly taken: number; readonly checks: number }

const usualTimeouts: Timeouts = { checkEvery: 2_000, pingEvery: 20_000, silent: 60_000, stalled: 15_000 }
/** How long connections may take to close when the service stops. */
const LEAVE_MS = 1_500

/** An address may have so many times its limit of connections without a session in all, because anybody can create sessions. */
const WITH_SESSIONS = 4

const SLOW = 'reads too slowly'

type CountedKey = { readonly key: string; readonly most: number }

/** `closed` is called with the code of each connection that this node closes. */
export const newConnections = (
  settings: RealtimeSettings,
  closed: (code: number) => void = () => {},
  timeouts = usualTimeouts,
): Connections => {
  const owners = new Map<Connection, Owner>()
  const counted = new Map<string, number>()
  const sendings = new Map<Connection, Sending>()
  let pinged = performance.now()
  let gone = () => {}
  let isStopping = false
  const leaving = new Set<Connection>() // closed, but not gone yet

  const { REALTIME_CONNECTIONS_SESSION: mostOfSession, REALTIME_CONNECTIONS_ADDRESS: mostOfAddress } = settings

  const ownOf = ({ session, address }: Owner): CountedKey =>
    session === undefined
      ? { key: `address ${address}`, most: mostOfAddress }
      : { key: `session ${session}`, most: mostOfSession }

  const allOf = ({ address }: Owner): CountedKey => ({ key: `all ${address}`, most: WITH_SESSIONS * mostOfAddress })

  const countOne = ({ key }: CountedKey, by: number) => {
    const now = (counted.get(key) ?? 0) + by
    if (now > 0) counted.set(key, now)
    else counted.delete(key)
  }

  const count = (owner: Owner, by: number) => {
    for (const one of [ownOf(owner), allOf(owner)]) countOne(one, by)
  }

  const hasRoomFor = ({ key, most }: CountedKey) => (counted.get(key) ?? 0) < most

  const end = (connection: Connection, code: number, reason: string) => {
    if (leaving.has(connection)) return
    leaving.add(connection)
    closed(code)
    connection.close(code, reason)
  }

  /** The close frame of a client that reads nothing would wait behind other bytes: so the connection is ended as well. */
  const cutOff = (connection: Connection) => {
    end(connection, closeCodes.slow, SLOW)
    connection.terminate()
  }

  /** Whether a client reads nothing of the frame that it is sent. */
  const isStalled = (connection: Connection): boolean => {
    const taken = connection.taken()
    const before = sendings.get(connection)
    sendings.delete(connection)
    if (taken === undefined) return false
    const checks = before?.taken === taken ? before.checks + 1 : 0
    sendings.set(connection, { taken, checks })
    return checks * timeouts.checkEvery > timeouts.stalled
  }

  const crowded: Connections['crowded'] = (owner) => {
    if (!hasRoomFor(ownOf(owner))) return owner.session === undefined ? 'address' : 'session'
    return hasRoomFor(allOf(owner)) ? undefined : 'address'
  }

  const checkAll = () => {
    const now = performance.now()
    const isDue = now - pinged >= timeouts.pingEvery
    if (isDue) pinged = now
    for (const connection of [...owners.keys()]) {
      const stalled = isStalled(connection)
      if (now - connection.heardAt() > timeouts.silent)
        end(connection, closeCodes.silent, 'nothing received for a minute')
      else if (stalled) end(connection, closeCodes.slow, SLOW)
      else if (isDue) connection.ping()
    }
  }
  let checking: NodeJS.Timeout | undefined

  const add: Connections['add'] = (connection, owner) => {
    owners.set(connection, owner)
    count(owner, 1)
    checking ??= setInterval(checkAll, timeouts.checkEvery).unref()
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
    clearInterval(checking)
    checking = undefined
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
