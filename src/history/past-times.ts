import type { TraceTimes } from '../trace/views.ts'
import { newPastDocuments } from './past-documents.ts'
import { ofThen, pastKeys, snapshot, snapshotOf } from './past-order.ts'
import { type PastTrace, clientsOf } from './past.ts'
import type { HistoryServices } from './services.ts'

type TimesRow = { revision: bigint; position: bigint; started_at: number | null; ended_at: number | null }

const extreme = (order: 'asc' | 'desc') => `(
  select m.timestamp from messages m where ${ofThen} and m.timestamp is not null order by m.timestamp ${order} limit 1)`

export const timesStatement = snapshot(
  'l.started_at, l.ended_at',
  `select ${extreme('asc')} as started_at, ${extreme('desc')} as ended_at`,
)

const timesIn = (timestamps: Float64Array): TraceTimes => {
  let [startedAt, endedAt] = [Infinity, -Infinity]
  for (const timestamp of timestamps) {
    if (timestamp === Infinity) continue // a message without a timestamp
    startedAt = Math.min(startedAt, timestamp)
    endedAt = Math.max(endedAt, timestamp)
  }
  return startedAt === Infinity ? {} : { startedAt, endedAt }
}

/** The first and the last timestamp of the messages that a trace had then. @throws BrokenOff if the trace is deleted meanwhile */
export const pastTimes = async (services: HistoryServices, past: PastTrace): Promise<TraceTimes> => {
  if (past.messageCount === 0) return {}
  const memo = services.memo.of(past).times
  const known = memo.get()
  if (known) return known
  const { row, moved } = await snapshotOf<TimesRow>(services, past, {
    name: 'past-times',
    text: timesStatement,
    values: [],
  })
  if (moved.length === 0) return { startedAt: row.started_at ?? undefined, endedAt: row.ended_at ?? undefined }
  const work = () => pastKeys(services, past, newPastDocuments(services, past))
  const { timestamps } = await services.longLists.turn(clientsOf(past.trace.namespaceId), work)
  const times = timesIn(timestamps)
  memo.set(times)
  return times
}
