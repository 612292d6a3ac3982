import type { FastifyRequest } from 'fastify'
import { type Client, type Permits, TICK_MS, newPermits } from '../base/permits.ts'
import { type Turns, newTurns } from '../base/yielding.ts'
import { addressKey } from './address.ts'

const MiB = 1024 * 1024

/** What one must take or send while others wait: 1 MB/s, in bytes a tick. */
const MIN_PACE = TICK_MS * 1_000

/** What all clients of this node hold together, each kind with its own capacity: in bytes, or pieces. */
export type NodePermits = {
  /** Bodies that are arriving, or have arrived and wait for their turn. */
  readonly bodies: Permits
  /** Bodies that are worked on: parsed, checked and serialised they take several times as much. */
  readonly work: Permits
  /** Answers of many bytes, whole or as much of them as is in memory. */
  readonly answers: Permits
  /** Reads of much from the database, in pieces: few, so that other reads get a connection soon. */
  readonly reads: Permits
  /** Frames of many bytes to realtime clients; one that goes to many is one. */
  readonly frames: Permits
  /** Connections, by net. */
  readonly sockets: Permits
  /** Whose work the event loop does next. */
  readonly turns: Turns
  close(): void
}

/** What a node is not to have more of, however many descriptors there are. */
const MOST_SOCKETS = 10_000
/** Descriptors for files, timers, the log's connections and threads. */
const RESERVED = 128

/** How many connections there may be beside so many of the database. */
const socketsBeside = (databaseConnections: number): number => {
  Object.assign(process.report, { excludeNetwork: true }) // it would look up names
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } }
  const descriptors = Number(userLimits?.open_files?.soft)
  return Math.max(64, Math.min(MOST_SOCKETS, (descriptors || Infinity) - databaseConnections - RESERVED))
}

/** Permits with the capacities of a node; tests may give others. */
export const newNodePermits = (
  databaseConnections = 0,
  given: Partial<Omit<NodePermits, 'turns' | 'close'>> = {},
): NodePermits => {
  const byPace = { minPace: MIN_PACE }
  const all = {
    bodies: newPermits({ capacity: 32 * MiB, things: 'bytes of request bodies on their way', grows: true, ...byPace }),
    work: newPermits({ capacity: 16 * MiB, things: 'bytes of request bodies being worked on' }),
    answers: newPermits({ capacity: 64 * MiB, things: 'bytes of answers being read', ...byPace }),
    reads: newPermits({ capacity: 8, things: 'long lists and queries being read' }),
    frames: newPermits({ capacity: 32 * MiB, things: 'bytes of realtime values', waitTicks: Infinity, ...byPace }),
    sockets: newPermits({
      capacity: socketsBeside(databaseConnections),
      things: 'connections',
      minPace: Infinity,
      graceTicks: 0,
      waitTicks: 0,
    }),
    ...given,
  }
  const ticking = setInterval(() => Object.values(all).forEach(({ tick }) => tick()), TICK_MS).unref()
  return { ...all, turns: newTurns(), close: () => clearInterval(ticking) }
}

/** Who is behind a request: its user, else the net that it comes from. */
export const clientOf = ({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): Client => {
  const net = `net:${addressKey(ip)}`
  return { id: caller ? `user:${caller.userId}` : net, net }
}
