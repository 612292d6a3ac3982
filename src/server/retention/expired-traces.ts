import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'

const DAY_MS = 86_400_000

/** Traces that have last changed before this time are due, in milliseconds since 1970. */
export const dueBefore = (now: number, days: number): number => now - days * DAY_MS

/** The last trace of the previous page; `updatedDay` counts days since 1970. */
export type After = { readonly updatedDay: bigint; readonly id: string }

type ExpiredTrace = After

export const START: After = { updatedDay: -1n, id: '00000000-0000-0000-0000-000000000000' }

/** Uses the index `namespaces_retention`, which holds only these namespaces: most keep their traces for ever. */
export const namespacesWithRetentionStatement = `
  select id, retention_days from namespaces where retention_days is not null and id > $1 order by id limit $2`

/** Finds traces by the day of their last change, which is indexed; the exact time is compared as well, for the last day. */
export const expiredStatement = `
  select updated_day as "updatedDay", id from traces
  where uuid_hash(namespace_id) = uuid_hash($1) and namespace_id = $1 and updated_day <= $2 and updated_at < $3
    and (updated_day, uuid_hash(id), id) > ($4, uuid_hash($5), $5)
  order by updated_day, uuid_hash(id), id limit $6`

const NAMESPACES = 500

type KeepingRow = { id: string; retention_days: number }

/** The namespaces with a retention, and its number of days. */
export async function* namespacesWithRetention(reads: Reads<ReadTables>) {
  let after = START.id
  for (;;) {
    const rows = await reads.rows<KeepingRow & Row>('retention-namespaces', namespacesWithRetentionStatement, [
      after,
      NAMESPACES,
    ])
    for (const { id, retention_days: days } of rows) yield { id, days }
    if (rows.length < NAMESPACES) return
    after = rows.at(-1)!.id
  }
}

/** Traces of a namespace that last changed before `since` (milliseconds), the oldest day first. */
export const expiredTraces = (
  reads: Reads<ReadTables>,
  namespaceId: string,
  since: number,
  after: After,
  limit: number,
): Promise<ExpiredTrace[]> => {
  const lastDay = Math.floor(since / DAY_MS)
  const values = [namespaceId, lastDay, since, after.updatedDay, after.id, limit]
  return reads.rows<ExpiredTrace & Row>('retention-traces', expiredStatement, values)
}
