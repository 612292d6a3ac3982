import { MESSAGES_UPSERTED } from '../../projections/timeline.ts'
import type { Row } from '../engine/reads.ts'
import { notFound } from '../http/http-error.ts'
import { type PresentTrace, type TraceState, traces } from '../trace/decide.ts'
import type { TraceEvent } from '../trace/events.ts'
import { traceWithModelName } from '../trace/model-names.ts'
import type { Moment } from '../trace/services.ts'
import { stateText } from '../trace/views.ts'
import type { PresentTraceRow } from './locate.ts'
import type { HistoryServices } from './services.ts'

/** A trace as it was right after an append. */
export type PastTrace = {
  readonly id: string
  /** The life of the trace that it is of, by the revision of its first event. */
  readonly incarnation: bigint
  /** The last revision of the append. */
  readonly revision: bigint
  readonly trace: PresentTrace
  /** How many messages it had: those whose ordinals are below. */
  readonly messageCount: number
  /** A TraceDetail as JSON text. */
  readonly detail: string
}

type ThroughRow = { through: bigint }

// The revision is that of an entry, or lies between two: of records that a crash has left unfinished nothing is shown.
const atRevision = `
  select coalesce(
    (select e.through from (
      select through, first_revision from entries where stream_id = $1 and revision >= $4 and revision <= $3
      order by revision limit 1
    ) e where e.first_revision <= $4),
    (select through from entries where stream_id = $1 and revision between $2 and $4 and revision <= $3
     order by revision desc limit 1)
  ) as through`

const atTime = `
  select through from entries where stream_id = $1 and revision between $2 and $3 and at <= $4
  order by revision desc limit 1`

/** The last revision of the append that a moment shows. @throws 404 before the creation and beyond the last revision */
export const revisionAt = async (
  { timeline }: Pick<HistoryServices, 'timeline'>,
  { id, incarnation, revision }: PresentTraceRow,
  moment: Moment,
): Promise<bigint> => {
  const life = [id, incarnation, revision]
  if ('revision' in moment && (moment.revision < incarnation || moment.revision > revision)) throw notFound()
  const rows =
    'revision' in moment
      ? await timeline.rows<ThroughRow & Row>('past-at-revision', atRevision, [...life, moment.revision])
      : await timeline.rows<ThroughRow & Row>('past-at-time', atTime, [...life, moment.at])
  const through = rows[0]?.through as bigint | null | undefined
  if (through === undefined || through === null) throw notFound()
  return through
}

/** An event of the trace itself, or the last entry of messages, the last with counts, or the last with new ones. */
type PartRow = {
  part: 'own' | 'last' | 'counts' | 'new'
  type: string
  revision: bigint
  at: bigint
  actor: string | null
  data: string | null
  adds: string | null
}

const parts = (part: PartRow['part'], condition: string, order: string) => `
  (select '${part}' as part, type, revision, at, actor, data, adds from entries
   where stream_id = $1 and revision between $2 and $3 and ${condition} order by ${order})`

const ofMessages = `type = '${MESSAGES_UPSERTED}'`
const newest = 'revision desc limit 1'

const partsStatement = [
  parts('own', `type <> '${MESSAGES_UPSERTED}'`, 'revision'),
  parts('last', ofMessages, newest),
  parts('counts', `${ofMessages} and data is not null`, newest),
  parts('new', `${ofMessages} and ordinal is not null`, newest),
].join(' union all ')

const eventOf = ({ part, type, data }: PartRow) =>
  ({ type: part === 'counts' ? 'MessagesCounted' : type, data: JSON.parse(data!) }) as TraceEvent

/** The trace after its own events, with the newest counts of its messages, and the time of whatever changed it last. */
const folded = (rows: readonly PartRow[]): PresentTrace => {
  const events = rows
    .filter(({ part }) => part === 'own' || part === 'counts')
    .sort((a, b) => Number(a.revision - b.revision))
  if (events[0]?.type !== 'TraceCreated') throw notFound() // its rows are being swept
  const { trace } = events.reduce<TraceState>(
    (state, row) =>
      traces.evolve(state, eventOf(row), {
        at: Number(row.at),
        ...(row.actor ? { actor: { userId: row.actor } } : {}),
      }),
    traces.initial(),
  )
  if (trace.is === 'absent') throw notFound()
  const last = rows.find(({ part }) => part === 'last')
  return { ...trace, updatedAt: Math.max(trace.updatedAt, Number(last?.at ?? 0n)) }
}

/** How many messages there were after an entry with new ones. */
const messagesAfter = (adds: string | null): number => {
  const [ordinal, , length] = (JSON.parse(adds ?? '[[0,0,0]]') as [number, number, number][]).at(-1)!
  return ordinal + length
}

/**
 * A trace after the append that ends at this revision. The model has the name that was recorded with it, else the one that the
 * registry has now: so the last revision shows what the present shows.
 */
export const pastTrace = async (
  { timeline, models }: Pick<HistoryServices, 'timeline' | 'models'>,
  { id, incarnation, slug }: PresentTraceRow,
  revision: bigint,
): Promise<PastTrace> => {
  const rows = await timeline.rows<PartRow & Row>('past-trace', partsStatement, [id, incarnation, revision])
  const trace = traceWithModelName(models, folded(rows))
  const messageCount = messagesAfter(rows.find(({ part }) => part === 'new')?.adds ?? null)
  return { id, incarnation, revision, trace, messageCount, detail: stateText(id, slug ?? '', trace) }
}
