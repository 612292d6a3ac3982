import type { Row } from '../../eventstore/engine/reads.ts'
import type { RecordedEvent, Revision } from '../../eventstore/log/log.ts'
import { BrokenOff } from '../http/long-list.ts'
import { type PresentTraceRow, firstRevision } from './locate.ts'
import type { HistoryServices } from './services.ts'

/** How many entries of the timeline are read at once, each of a request with up to 200 messages. */
const ENTRIES = 200
/** How many events are asked of the log at once. */
const EVENTS = 1_000

type EntryRow = { revision: bigint; adds: string | null; updates: string | null }

// After the revision $2, up to the revision $3: the entry that the trace begins with, $4, and those of messages.
const statement = `
  select revision, adds, updates from entries
  where stream_id = $1 and revision > $2 and revision <= $3 and (revision = $4 or adds is not null or updates is not null)
  order by revision limit ${ENTRIES}`

// While entries of a deleted trace, or of an erased past, are removed, some of them are still there.
const isWholeStatement = `
  select from entries e where e.stream_id = $1 and e.revision = $2 and e.place = 0
  and not exists (select from obsolete_entries o where o.stream_id = $1 and o.before > $2)`

const erased = () => new BrokenOff('events of the trace were erased while they were read')

type Run = readonly [revision: number, length: number]

/** Where the events of messages of an entry are in the log, ascending. */
const runsIn = ({ adds, updates }: EntryRow): Run[] => {
  const added = JSON.parse(adds ?? '[]') as [ordinal: number, revision: number, length: number][]
  const updated = JSON.parse(updates ?? '[]') as [ordinal: number, revision: number, moved: 0 | 1][]
  const runs: Run[] = [
    ...added.map(([, revision, length]): Run => [revision, length]),
    ...updated.map(([, revision]): Run => [revision, 1]),
  ]
  return runs.sort(([a], [b]) => a - b)
}

/** The revisions of the event that a trace begins with, and of those that wrote its messages, ascending. @throws BrokenOff */
async function* revisionsOf(
  { timeline }: Pick<HistoryServices, 'timeline'>,
  trace: PresentTraceRow,
): AsyncGenerator<Revision, void> {
  const first = firstRevision(trace)
  for (let reached = first - 1n; ;) {
    const values = [trace.id, reached, trace.revision, first]
    const rows = await timeline.rows<EntryRow & Row>('events-of-trace', statement, values)
    for (const row of rows) {
      for (const [revision, length] of runsIn(row)) for (let i = 0; i < length; i++) yield BigInt(revision + i)
      if (row.revision === first) yield first
    }
    if (rows.length < ENTRIES) break
    reached = rows.at(-1)!.revision
  }
  const whole = await timeline.rows<Row>('events-of-trace-whole', isWholeStatement, [trace.id, first])
  if (whole.length === 0) throw erased()
}

async function* inParts(revisions: AsyncIterable<Revision>): AsyncGenerator<readonly Revision[], void> {
  let part: Revision[] = []
  for await (const revision of revisions) {
    part.push(revision)
    if (part.length < EVENTS) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

/**
 * The event that a trace of `traceWithTimeline` begins with now, and every event in the log that wrote one of its messages up to its revision, in the
 * order of the log: after an erasure of its past the restated messages come before `HistoryErased`. Takes the memory of a page of the log.
 * @throws BrokenOff if the trace is deleted, or its past erased, meanwhile
 */
export async function* eventsOfTrace(
  services: Pick<HistoryServices, 'timeline' | 'log'>,
  trace: PresentTraceRow,
): AsyncGenerator<RecordedEvent, void> {
  for await (const revisions of inParts(revisionsOf(services, trace))) {
    let count = 0
    for await (const event of services.log.readRevisions(`trace-${trace.id}`, revisions)) {
      count += 1
      yield event
    }
    if (count < revisions.length) throw erased()
  }
}
