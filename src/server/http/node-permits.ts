import type { FastifyReply, FastifyRequest } from 'fastify'
import { actAs } from '../../base/current-client.ts'
import { type Client, type Permits, TICK_MS, newPermits } from '../../base/permits.ts'
import { type Turns, newTurns } from '../../base/yielding.ts'
import { addressKey } from './address.ts'

const MiB = 1024 * 1024

/** The minimum pace while others wait, in bytes per tick: 1 MB/s. */
const MIN_PACE = TICK_MS * 1_000

/** A client that sends nothing of its body for so long gets a 503, even if no other client waits. */
const SILENT_MS = 30_000

/** What all clients of this node hold together. Each kind has its own capacity, in bytes or in number. */
export type NodePermits = {
  /** Bytes of bodies that are arriving, or have arrived and wait. */
  readonly bodies: Permits
  /** Bytes of bodies that are being processed; parsed and checked, they take several times as much memory. */
  readonly work: Permits
  /** Bytes in memory of large answers. */
  readonly answers: Permits
  /** Long reads from the database, in number: few, so that other reads get a connection soon. */
  readonly reads: Permits
  /** Bytes of large frames to realtime clients; a frame that goes to many clients counts once. */
  readonly frames: Permits
  /** Connections by net, in number. */
  readonly sockets: Permits
  /** Decides whose work the event loop does next. */
  readonly turns: Turns
  close(): void
}

/** The maximum number of connections, however many file descriptors there are. */
const MOST_SOCKETS = 10_000
/** File descriptors for files, timers, threads and the connections of the log. */
const RESERVED = 128

/** How many connections fit beside those of the database. */
const socketsBeside = (databaseConnections: number): number => {
  Object.assign(process.report, { excludeNetwork: true }) // it would look up names
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } }
  const descriptors = Number(userLimits?.open_files?.soft)
  return Math.max(64, Math.min(MOST_SOCKETS, (descriptors || Infinity) - databaseConnections - RESERVED))
}

/** The permits of a node; tests pass others. */
export const newNodePermits = (
  databaseConnections = 0,
  given: Partial<Omit<NodePermits, 'turns' | 'close'>> = {},
): NodePermits => {
  const byPace = { minPace: MIN_PACE }
  const all = {
    bodies: newPermits({
      capacity: 32 * MiB,
      things: 'bytes of request bodies on their way',
      grows: true,
      silentTicks: SILENT_MS / TICK_MS,
      ...byPace,
    }),
    work: newPermits({ capacity: 12 * MiB, things: 'bytes of request bodies being worked on' }),
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

/** The client of a request: its user, otherwise the net that it comes from. */
export const clientOf = ({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): Client => {
  const net = `net:${addressKey(ip)}`
  return { id: caller ? `user:${caller.userId}` : net, net }
}

/** A hook after which a request waits in the line of its client; to be called again whenever its caller has become known. */
export const waitAsClient = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void =>
  actAs(clientOf(request), done)
