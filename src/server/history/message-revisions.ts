import type { Row } from '../../eventstore/engine/reads.ts'
import type { Revision } from '../../eventstore/log/log.ts'
import { int4s } from '../../eventstore/postgres/arrays.ts'
import type { PastTrace } from './past.ts'
import type { HistoryServices } from './services.ts'
import { type Updates, updatesBetween } from './updates.ts'

/** `adds` is JSON of runs: `[ordinal of the first message, its revision, how many messages]`. */
type RunsRow = { wanted: number; adds: string }

// The sum keeps the planner from using another index than that of the ordinal, and from reading all entries of the trace.
const addsStatement = `
  select k.ordinal as wanted, e.adds from unnest($2::int4[]) k (ordinal) cross join lateral (
    select adds from entries
    where stream_id = $1 and ordinal is not null and ordinal <= k.ordinal and revision + 0 between $3 and $4
    order by ordinal desc limit 1
  ) e`

/** The revisions of the events that added, or restated, these messages, with the ordinal of each. */
export const additions = async (
  { timeline }: Pick<HistoryServices, 'timeline'>,
  { id, first, revision }: Pick<PastTrace, 'id' | 'first' | 'revision'>,
  ordinals: readonly number[],
): Promise<Map<Revision, number>> => {
  const values = [id, int4s([...ordinals]), first, revision]
  const rows = await timeline.rows<RunsRow & Row>('past-additions', addsStatement, values)
  const found = new Map<Revision, number>()
  for (const { wanted, adds } of rows) {
    const runs = JSON.parse(adds) as [ordinal: number, revision: number, length: number][]
    const [ordinal, revision, length] = runs.findLast(([first]) => first <= wanted) ?? [0, 0, 0]
    if (wanted < ordinal + length) found.set(BigInt(revision + wanted - ordinal), wanted)
  }
  return found
}

/** All changes of messages up to a moment. */
export const allUpdates = async (
  services: Pick<HistoryServices, 'timeline' | 'memo'>,
  past: Pick<PastTrace, 'id' | 'incarnation' | 'first' | 'revision'>,
): Promise<Updates> => {
  const { updates } = services.memo.of(past)
  const known = updates.get()
  if (known) return known
  const found = await updatesBetween(services, past, past.first, past.revision)
  updates.set(found)
  return found
}
