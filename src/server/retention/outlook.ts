import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { START, dueBefore, expiredTraces } from './expired-traces.ts'

/** What a retention would delete of a namespace. */
export type Outlook = {
  /** How many traces would be deleted at once. At most `MOST_COUNTED`. */
  readonly due: number
  /** The trace that has not changed for the longest, which goes first, and when it last changed; undefined without traces. */
  readonly first: { readonly id: string; readonly updatedAt: number } | undefined
}

/** Counting more would take long, and change nobody's mind. */
export const MOST_COUNTED = 10_000

/** Reads the index that the process reads. */
export const dueStatement = `
  select count(*)::int4 as due from (
    select from traces
    where uuid_hash(namespace_id) = uuid_hash($1) and namespace_id = $1 and updated_day <= $2 and updated_at < $3
    limit ${MOST_COUNTED}
  ) t`

/** Of the traces that last changed on the same day, the one that changed before all others. */
export const firstOfDayStatement = `
  select id, updated_at from traces
  where uuid_hash(namespace_id) = uuid_hash($1) and namespace_id = $1 and updated_day = $2
  order by updated_at, id limit 1`

const DAY_MS = 86_400_000

type OutlookReads = Reads<ReadTables>

/** The trace that has not changed for the longest: the day is found as the process finds it. */
const firstOf = async (reads: OutlookReads, namespaceId: string): Promise<Outlook['first']> => {
  const [oldest] = await expiredTraces(reads, namespaceId, Number.MAX_SAFE_INTEGER, START, 1)
  if (!oldest) return undefined
  const values = [namespaceId, oldest.updatedDay]
  const [row] = await reads.rows<{ id: string; updated_at: bigint } & Row>(
    'retention-first',
    firstOfDayStatement,
    values,
  )
  return row && { id: row.id, updatedAt: Number(row.updated_at) }
}

/** What would be deleted if a namespace kept its traces for so many days after their last change. */
export const outlookOf = async (
  reads: OutlookReads,
  namespaceId: string,
  days: number,
  now: number,
): Promise<Outlook> => {
  const since = dueBefore(now, days)
  const values = [namespaceId, Math.floor(since / DAY_MS), since]
  const [[counted], first] = await Promise.all([
    reads.rows<{ due: number }>('retention-due', dueStatement, values),
    firstOf(reads, namespaceId),
  ])
  return { due: counted!.due, first }
}
