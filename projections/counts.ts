import { projectionOf } from '../src/engine/projection.ts'
import type { TraceEvent } from '../src/trace/events.ts'
import { uuids } from '../src/postgres/arrays.ts'
import { countsTable } from './tables.ts'

type Counted = Extract<TraceEvent, { type: 'MessagesCounted' | 'HistoryErased' }>['data']

type Changes = { readonly counted: Map<string, Counted>; readonly deleted: Set<string> }

const totals = countsTable.unnest<readonly [traceId: string, Counted]>({
  trace_id: ([traceId]) => traceId,
  message_count: ([, { messageCount }]) => messageCount,
  message_types: ([, { messageTypeCounts }]) => JSON.stringify(messageTypeCounts),
  tool_types: ([, { toolTypeCounts }]) => JSON.stringify(toolTypeCounts),
})

/** How many messages a trace has, by class, and how many tool calls, by tool: the totals of its last `MessagesCounted`, or of its restated present. */
export const counts = projectionOf<TraceEvent>()<Changes>({
  name: 'counts',
  tables: countsTable.create,
  rows: { counts: { trace: 'trace_id' } },
  indexes: '',
  start: () => ({ counted: new Map(), deleted: new Set() }),
  on: {
    MessagesCounted: ({ counted }, { streamId: id, data }) => void counted.set(id, data),
    TraceDeleted: ({ counted, deleted }, { streamId: id }) => {
      counted.delete(id)
      deleted.add(id)
    },
    HistoryErased: ({ counted, deleted }, { streamId: id, data }) => {
      deleted.add(id)
      if (data.messageCount === 0) counted.delete(id)
      else counted.set(id, data)
    },
    MessageRestated: 'ignored',
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    MessageAdded: 'ignored',
    MessageUpdated: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ counted, deleted }, write) => {
    if (deleted.size > 0)
      write('counts-delete', 'delete from counts where trace_id = any($1::uuid[])', [uuids([...deleted])])
    if (counted.size === 0) return
    write(
      'counts-upsert',
      `${totals.insert} on conflict (trace_id) do update set message_count = excluded.message_count,
         message_types = excluded.message_types, tool_types = excluded.tool_types`,
      totals.values([...counted]),
    )
  },
})
