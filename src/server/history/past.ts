import { MESSAGES_UPSERTED } from '../../tables/timeline.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import { notFound } from '../http/http-error.ts'
import { PAGE_BYTES, pageRows } from '../http/list-page.ts'
import { traces } from '../trace/decide.ts'
import type { PresentTrace, TraceState } from '../trace/state.ts'
import type { Client } from '../../base/permits.ts'
import type { TraceEvent } from '../trace/events.ts'
import { traceWithModelName } from '../trace/model-names.ts'
import type { Moment } from '../trace/moment.ts'
import { type PresentTraceRow, firstRevision } from './locate.ts'
import type { HistoryServices } from './services.ts'

/** A trace as it was right after an append. */
export type PastTrace = {
  readonly id: string
  /** The trace's incarnation, by which read models have its messages. */
  readonly incarnation: bigint
  /** The revision of the event with which it begins in the log. */
  readonly first: bigint
  /** The last revision of the append. */
  readonly revision: bigint
  readonly trace: PresentTrace
  /** How many messages it had. Their ordinals are lower than this. */
  readonly messageCount: number
  /** The slug of its namespace; empty if it is unknown. */
  readonly slug: string
}

type ThroughRow = { through: bigint }

// The revision is that of an entry, of a chunk of its first event, or of a record that a crash has left, which is not shown.
const atRevision = `
  select coalesce(
    (select e.through from (
      select through, first_revision from entries
      where stream_id = $1 and revision >= greatest($2::int8, $4::int8) and revision <= $3
      order by revision limit 1
    ) e where e.first_revision <= $4),
    (select through from entries where stream_id = $1 and revision between $2 and $4 and revision <= $3
     order by revision desc limit 1)
  ) as through`

const atTime = `
  select through from entries where stream_id = $1 and revision between $2 and $3 and at <= $4
  order by revision desc limit 1`

/** The last revision of the append at a moment. @throws 404 before the creation and beyond the last revision */
export const revisionAt = async (
  { timeline }: Pick<HistoryServices, 'timeline'>,
  trace: PresentTraceRow,
  moment: Moment,
): Promise<bigint> => {
  const { id, revision } = trace
  const range = [id, firstRevision(trace), revision]
  if ('revision' in moment && moment.revision > revision) throw notFound()
  const rows =
    'revision' in moment
      ? await timeline.rows<ThroughRow & Row>('past-at-revision', atRevision, [...range, moment.revision])
      : await timeline.rows<ThroughRow & Row>('past-at-time', atTime, [...range, moment.at])
  const through = rows[0]?.through as bigint | null | undefined
  if (through === undefined || through === null) throw notFound()
  return through
}

type EventRow = { type: string; revision: bigint; at: bigint; actor: string | null; data: string | null }

/** The last entry of messages that moved `updatedAt`, the last one with counts, or the last one with new messages. */
type PartRow = EventRow & { part: 'last' | 'counts' | 'new'; adds: string | null }

const part = (name: PartRow['part'], condition: string) => `
  (select '${name}' as part, type, revision, at, actor, data, adds from entries
   where stream_id = $1 and revision between $2 and $3 and type = '${MESSAGES_UPSERTED}' and ${condition}
   order by revision desc limit 1)`

const partsStatement = [
  part('last', 'is_of_usage is not true'),
  part('counts', 'data is not null'),
  part('new', 'ordinal is not null'),
].join(' union all ')

/** How many of a trace's own events are read together. */
const OWN_EVENTS = 1_000

// After the revision $2, as many as fit into the memory of one answer.
const ownStatement = pageRows(
  `select type, revision, at, actor, data, 100 + coalesce(octet_length(data::text), 0) as size from entries
   where stream_id = $1 and revision > $2 and revision <= $3 and type <> '${MESSAGES_UPSERTED}'
   order by revision limit ${OWN_EVENTS}`,
  'revision',
)

const evolved = (state: TraceState, { type, at, actor, data }: EventRow): TraceState =>
  traces.evolve(state, { type, data: JSON.parse(data!) } as TraceEvent, {
    at: Number(at),
    ...(actor ? { actor: { userId: actor } } : {}),
  })

/** Reading more chunks than this counts as much work. */
const FEW_CHUNKS = 1

/** A trace folded from its own events and the newest counts of its messages, chunk by chunk. */
const folded = async (
  { timeline, longLists }: Pick<HistoryServices, 'timeline' | 'longLists'>,
  { id, first, revision }: Pick<PastTrace, 'id' | 'first' | 'revision'>,
  { counts, client }: { readonly counts: EventRow | undefined; readonly client: Client },
): Promise<{ readonly trace: PresentTrace; readonly wasMuch: boolean }> => {
  const read = (after: bigint) =>
    timeline.rows<EventRow & { size: bigint } & Row>('past-own', ownStatement, [id, after, revision])
  let state = traces.initial()
  let left = counts
  const take = (row: EventRow) => {
    if (left && left.revision < row.revision) {
      state = evolved(state, left)
      left = undefined
    }
    state = evolved(state, row)
  }
  let rows = await read(first - 1n)
  if (rows[0]?.type !== 'TraceCreated' && rows[0]?.type !== 'HistoryErased') throw notFound() // its rows are being deleted
  let chunks = 0
  for (; rows.length > 0; chunks += 1) {
    for (const row of rows) take(row)
    const last = rows.at(-1)!.revision
    const isLast =
      chunks === 0 && rows.length < OWN_EVENTS && rows.reduce((sum, { size }) => sum + Number(size), 0) < PAGE_BYTES
    rows = isLast ? [] : await longLists.turn(client, () => read(last))
  }
  if (left) state = evolved(state, left)
  if (state.trace.is === 'absent') throw notFound()
  return { trace: state.trace, wasMuch: chunks > FEW_CHUNKS }
}

/** The client for whom the past of a trace is read: all members of its namespace together, so that namespaces take turns. */
export const clientsOf = (namespaceId: string): Client => ({
  id: `namespace:${namespaceId}`,
  net: `namespace:${namespaceId}`,
})

/** The entry with the newest counts, as the event that recorded them. */
const countsOf = (row: PartRow | undefined): EventRow | undefined => row && { ...row, type: 'MessagesCounted' }

/** How many messages there were after an entry with new messages. */
const messagesAfter = (adds: string): number => {
  const [ordinal, , length] = (JSON.parse(adds) as [number, number, number][]).at(-1)!
  return ordinal + length
}

/**
 * A trace after the append that ends at this revision. The model's name is the recorded one, or the current one of the registry if none
 * was recorded, so that the last revision shows the same as the trace now.
 */
export const pastTrace = async (
  services: Pick<HistoryServices, 'timeline' | 'models' | 'memo' | 'longLists'>,
  present: PresentTraceRow,
  revision: bigint,
): Promise<PastTrace> => {
  const { timeline, models } = services
  const { id, incarnation, slug, namespace_id } = present
  const moment = { id, incarnation, first: firstRevision(present), revision }
  const memo = services.memo.of(moment)
  const rows = await timeline.rows<PartRow & Row>('past-trace', partsStatement, [id, moment.first, revision])
  const of = (name: PartRow['part']) => rows.find(({ part }) => part === name)
  const known = memo.trace.get()
  const { trace: own, wasMuch } = known
    ? { trace: known, wasMuch: false }
    : await folded(services, moment, { counts: countsOf(of('counts')), client: clientsOf(namespace_id) })
  if (wasMuch) memo.trace.set(own)
  const updatedAt = Math.max(own.updatedAt, Number(of('last')?.at ?? 0n))
  const trace = traceWithModelName(await models.known(), { ...own, updatedAt })
  const adds = of('new')?.adds
  const messageCount = adds ? messagesAfter(adds) : own.counts.messageCount
  return { ...moment, trace, messageCount, slug: slug ?? '' }
}
