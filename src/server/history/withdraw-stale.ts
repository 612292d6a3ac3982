import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { Transactor } from '../../eventstore/engine/transact.ts'
import { withdraw } from '../trace/decide.ts'
import type { TraceEvent } from '../trace/events.ts'
import type { TraceNeed, TraceState } from '../trace/state.ts'

/** A move appends in shorter intervals than this: one that has not for so long has died. */
const STALE_MS = 10 * 60_000

const staleStatement = 'select id from trace_tombstones where arriving is not null and at < $1 order by id limit 100'

type Options = {
  readonly reads: Pick<Reads<ReadTables>, 'rows'>
  readonly traces: Pick<Transactor<TraceState, TraceEvent, TraceNeed>, 'transact'>
  /** @throws Unavailable while the service takes no writes */
  readonly assertWritable: () => void
  /** The clock, in milliseconds. */
  readonly now: () => number
}

/** Takes back what moves have left that died before they were complete, so that it is erased, and the place is free. @throws Unavailable */
export const withdrawStale = async ({ reads, traces, assertWritable, now }: Options): Promise<void> => {
  assertWritable()
  const stale = await reads.rows<{ id: string } & Row>('stale-arrivals', staleStatement, [now() - STALE_MS])
  for (const { id } of stale) await traces.transact(id, { decide: withdraw(), answer: () => {} }, {})
}
