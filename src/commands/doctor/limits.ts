import { REQUEST_WAIT_MS } from '../../base/waits.ts'
import { MAIN } from '../../eventstore/engine/group.ts'
import { HIGHEST_LEVEL, MERGED, SEGMENT_ROWS } from '../../tables/search.ts'
import { type Figures, type Growth, type Slot, isUnseen } from './figures.ts'

/** `room` is that for a second copy of the read models, `wal` the one that is kept for standbys. */
export type LimitName = 'disk' | 'room' | 'connections' | 'segments' | 'rebuild' | 'lag' | 'wal'

type Unit = 'bytes' | 'connections' | 'segments' | 'seconds'

/**
 * Something that ends when `now` has reached `limit`, in `days` at the growth of the log: 0 if it has. Without `days` that is not foreseen, or, for the
 * reason `unknown`, not known.
 */
export type Limit = {
  readonly name: LimitName
  readonly unit: Unit
  readonly now?: number
  readonly limit?: number
  readonly days?: number
  readonly unknown?: string
  /** What to do, in a sentence that names the setting or the command. */
  readonly helps: string
}

/** What ends within so many days is reported as a problem. */
export const SOON_DAYS = 30

export const endsSoon = ({ days }: Limit): boolean => days !== undefined && days <= SOON_DAYS

/**
 * What a rebuild does in a second on two cores: rows `rebuild` and `search-index` of `npm run bench` (`test/bench/README.md`). The search index, which
 * takes longest, is counted by itself.
 */
export const REBUILT_EVENTS = 20_661
export const INDEXED_ROWS = 2_947

/** A night: an upgrade that builds read models again should be over by the morning. */
const LONGEST_REBUILD_S = 8 * 3_600

/** A page of a search looks for 400 ms. In more segments, as batches write them, that was too short for a rare word. */
const MOST_SEGMENTS = Math.floor(4_000_000 / SEGMENT_ROWS)
/** Segments are merged until they have so many rows. */
const LARGEST_SEGMENT = SEGMENT_ROWS * MERGED ** HIGHEST_LEVEL

const WEEK_DAYS = 7

/** Events a day: as many as in the last one, or as on average in the last week if these are more. Undefined if the log is younger. */
const eventsPerDay = ({ lastDay, lastWeek = 0 }: Growth): number | undefined =>
  lastDay === undefined ? undefined : Math.max(lastDay, lastWeek / WEEK_DAYS)

/** How much an amount that all events so far have made grows in a day; undefined if that is not known. */
type Grows = (amount: number) => number | undefined

const growsOf = ({ growth, events }: Figures): Grows => {
  const perDay = isUnseen(growth) ? undefined : eventsPerDay(growth)
  return (amount) => (perDay === undefined ? undefined : (amount * perDay) / Math.max(1, events))
}

/** Bytes that the database grows by in a day. */
export const bytesPerDay = (figures: Figures): number | undefined => growsOf(figures)(bytesOf(figures))

const whyUnknown = ({ growth }: Figures): string =>
  isUnseen(growth) ? growth.unseen : 'the growth is not known yet, because the log is less than a day old'

type Measured = {
  readonly name: LimitName
  readonly unit: Unit
  readonly now: number
  readonly limit: number
  /** By how much `now` grows in a day; undefined if it is not known. */
  readonly perDay: number | undefined
  readonly helps: string
}

/** The days until `now` has reached `limit`; undefined if it does not grow. */
export const daysUntil = ({
  now,
  limit,
  perDay = 0,
}: Pick<Measured, 'now' | 'limit' | 'perDay'>): number | undefined => {
  if (now >= limit) return 0
  return perDay > 0 ? (limit - now) / perDay : undefined
}

const measured = ({ perDay, ...rest }: Measured, why: string): Limit => {
  const days = daysUntil({ ...rest, perDay })
  if (days !== undefined) return { ...rest, days }
  return perDay === undefined ? { ...rest, unknown: why } : rest
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

const bytesOf = ({ sizes }: Figures): number => sum(sizes.map(({ bytes }) => bytes))

/** The parts that are no read models in use. */
const OTHER_PARTS: readonly string[] = ['log', 'tree', 'other', 'unused']

const readModelBytes = ({ sizes }: Figures): number =>
  sum(sizes.filter(({ part }) => !OTHER_PARTS.includes(part)).map(({ bytes }) => bytes))

const rowsOf = ({ sizes }: Figures, wanted: string): number =>
  sum(sizes.filter(({ part }) => part === wanted).map(({ rows }) => rows))

const LESS_DATA = 'set retentionDays of namespaces, so that old sessions are deleted'

const diskLimit = (figures: Figures, grows: Grows): Limit => {
  const { disk } = figures
  const helps = `Make the disk of the database larger, or ${LESS_DATA}.`
  const about = { name: 'disk', unit: 'bytes', helps } as const
  if (isUnseen(disk)) return { ...about, unknown: disk.unseen }
  const { used, free, reserve } = disk
  const limit = Math.max(0, used + free - reserve)
  return measured({ ...about, now: used, limit, perDay: grows(bytesOf(figures)) }, whyUnknown(figures))
}

/** Read models are built beside those in use, so that the disk holds them twice. */
const roomLimit = (figures: Figures, grows: Grows): Limit => {
  const { disk } = figures
  const helps =
    'Make the disk of the database larger before the next upgrade: it builds read models beside those in use. ' +
    '"tracebook rebuild" with the name of a group needs room for that one only.'
  const about = { name: 'room', unit: 'bytes', helps } as const
  if (isUnseen(disk)) return { ...about, unknown: disk.unseen }
  const { used, free, reserve } = disk
  const twice = readModelBytes(figures)
  const limit = Math.max(0, used + free - reserve)
  const perDay = grows(bytesOf(figures) + twice)
  return measured({ ...about, now: used + twice, limit, perDay }, whyUnknown(figures))
}

export const MORE_CONNECTIONS =
  'Raise max_connections of PostgreSQL, or what the role or the database may have of them, or lower DATABASE_CONNECTIONS of the processes.'

/** Counts what all processes may open, not what they have open now. Where none runs, one is counted. */
const connectionsLimit = ({ connections }: Figures): Limit => {
  const { open, free, processes, ours, ofEach } = connections
  const now = open - ours + Math.max(ours, Math.max(1, processes) * ofEach)
  const limit = open + free
  const about = { name: 'connections', unit: 'connections', now, limit, helps: MORE_CONNECTIONS } as const
  return now > limit ? { ...about, days: 0 } : about
}

const segmentsLimit = (figures: Figures, grows: Grows): Limit => {
  const { segments } = figures
  const helps =
    'Pages of a search for a rare word may be empty, with a cursor to the next one. The process with the role projector merges segments ' +
    `when it has nothing else to do, and if the disk has room: give it more time and room, or ${LESS_DATA}.`
  const about = { name: 'segments', unit: 'segments', helps } as const
  if (isUnseen(segments)) return { ...about, unknown: segments.unseen }
  const newRows = grows(rowsOf(figures, 'search'))
  const perDay = newRows && newRows / LARGEST_SEGMENT
  return measured({ ...about, now: segments, limit: MOST_SEGMENTS, perDay }, whyUnknown(figures))
}

const rebuildLimit = (figures: Figures, grows: Grows): Limit => {
  const seconds = figures.events / REBUILT_EVENTS + rowsOf(figures, 'search') / INDEXED_ROWS
  const helps =
    'Upgrade with DATABASE_URL and two processes, one after the other: the old read models are served until the new ones are built. ' +
    `Or ${LESS_DATA}.`
  const about = { name: 'rebuild', unit: 'seconds', helps } as const
  return measured(
    { ...about, now: Math.ceil(seconds), limit: LONGEST_REBUILD_S, perDay: grows(seconds) },
    whyUnknown(figures),
  )
}

/** The service refuses writes while its main read models are behind for longer than a request waits. */
const lagLimit = ({ lags }: Figures): Limit => {
  const stopped = isUnseen(lags) ? undefined : lags.find(({ isStopped }) => isStopped)
  const helps = stopped
    ? `The read models ${stopped.group} have stopped: "tracebook log quarantine" shows why.`
    : 'See that a process with the role projector runs, and give it a processor and a fast disk of its own.'
  const about = { name: 'lag', unit: 'seconds', helps } as const
  if (isUnseen(lags)) return { ...about, unknown: lags.unseen }
  const now = (lags.find(({ group }) => group === MAIN)?.ms ?? 0) / 1_000
  const limit = measured({ ...about, now, limit: REQUEST_WAIT_MS / 1_000, perDay: 0 }, '')
  return stopped ? { ...limit, days: 0 } : limit
}

const slotLimit = (slot: Slot, { wal, disk }: Figures): Limit => {
  const { name, isActive, status, kept = 0 } = slot
  const helps = isActive
    ? `See why the standby of the slot ${name} is behind, or limit what is kept for it by max_slot_wal_keep_size.`
    : `Start the standby of the slot ${name}, or drop the slot: select pg_drop_replication_slot('${name}'). ` +
      'max_slot_wal_keep_size limits what is kept for one that is away.'
  const about = { name: 'wal', unit: 'bytes', now: kept, helps } as const
  if (status === 'lost' || status === 'unreserved') return { ...about, days: 0 }
  const limit = wal.most ?? (isUnseen(disk) ? undefined : kept + Math.max(0, disk.free - disk.reserve))
  if (limit === undefined)
    return isActive ? about : { ...about, unknown: 'max_slot_wal_keep_size sets no limit, and the disk is not seen' }
  const why = 'how much WAL is written in a day is not known yet'
  return measured({ ...about, limit, perDay: isActive ? 0 : wal.perDay }, why)
}

const soonestFirst = (a: Limit, b: Limit): number =>
  (a.days ?? Infinity) - (b.days ?? Infinity) || (b.now ?? 0) - (a.now ?? 0)

/** That of the slot for which WAL ends first. */
const walLimit = (figures: Figures): Limit =>
  figures.wal.slots.map((slot) => slotLimit(slot, figures)).sort(soonestFirst)[0] ?? {
    name: 'wal',
    unit: 'bytes',
    now: 0,
    helps: 'No replication slot keeps any: nothing to do.',
  }

/** What can end, from what was found. Amounts grow as the log does, by as much for each event as so far. */
export const limitsOf = (figures: Figures): Limit[] => {
  const grows = growsOf(figures)
  return [
    diskLimit(figures, grows),
    roomLimit(figures, grows),
    connectionsLimit(figures),
    segmentsLimit(figures, grows),
    rebuildLimit(figures, grows),
    lagLimit(figures),
    walLimit(figures),
  ]
}
