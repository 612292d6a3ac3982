import type { ReadRows } from '../../eventstore/engine/in-snapshot.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import type { Asked } from './day-rows.ts'

const inPeriod = (slot: string) => `${slot} >= $2 and ${slot} < $3`

const statement = `
  select c.tool, sum(c.calls)::int4 as calls from (
    select tool, count(*) as calls from failed_calls where namespace_id = $1 and ${inPeriod('slot')} group by 1
    union all
    select f.tool, -1 from (
      select * from copied_answers where namespace_id = $1 and elsewhere and ${inPeriod('slot')}
    ) m
    cross join lateral (select * from failed_calls r where r.trace_id = m.trace_id and r.ordinal = m.ordinal offset 0) f
  ) c group by 1 having sum(c.calls) > 0`

/** How many calls of each tool have failed: those of messages in the period, without copies of answers. */
export const failedCalls = async (
  readRows: ReadRows,
  { namespaceId, period }: Asked,
): Promise<ReadonlyMap<string, number>> => {
  const values = [namespaceId, period.from, period.to]
  const rows = await readRows<Row & { tool: string; calls: number }>('usage-failed-calls', statement, values)
  return new Map(rows.map(({ tool, calls }) => [JSON.parse(tool) as string, calls]))
}
