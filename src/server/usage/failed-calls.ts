import type { ReadRows } from '../../eventstore/engine/in-snapshot.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import type { Asked } from './day-rows.ts'

const statement = `
  select f.tool, count(*)::int4 as calls from failed_calls f
  where f.namespace_id = $1 and f.slot >= $2 and f.slot < $3 and not exists (
    select from copied_answers m
    where m.namespace_id = $1 and m.elsewhere and m.trace_id = f.trace_id and m.ordinal = f.ordinal
  )
  group by 1`

/** How many calls of each tool have failed: those of messages in the period, without copies of answers. */
export const failedCalls = async (
  readRows: ReadRows,
  { namespaceId, period }: Asked,
): Promise<ReadonlyMap<string, number>> => {
  const values = [namespaceId, period.from, period.to]
  const rows = await readRows<Row & { tool: string; calls: number }>('usage-failed-calls', statement, values)
  return new Map(rows.map(({ tool, calls }) => [JSON.parse(tool) as string, calls]))
}
