import { type DecodedEvent, projectionOf } from '../src/eventstore/engine/projection.ts'
import type { TraceEvent } from '../src/server/trace/events.ts'
import { headOfPart, partHeadLine } from '../src/server/trace/messages/heads.ts'
import { partIndex } from '../src/server/trace/messages/message.ts'
import { type StoredPart, partText } from '../src/server/trace/messages/part.ts'
import { PRESENT_INCARNATION, required } from './support/sql.ts'
import { messagePartsTable } from '../src/tables/main.ts'

type Row = { readonly traceId: string; readonly ordinal: number; readonly index: number; readonly part: StoredPart }

/** Changed parts, by message and index. */
type Changes = Map<string, Row>

const changed = messagePartsTable.unnest<Row>({
  trace_id: ({ traceId }) => traceId,
  ordinal: ({ ordinal }) => ordinal,
  position: ({ index }) => index,
  head: ({ part }) => partHeadLine(headOfPart(part)),
  body: ({ part, index }) => partText(part.json, index),
  fact: ({ part }) => part.fact,
})

const forget = (rows: Changes, { streamId: id }: DecodedEvent) => {
  for (const [key, { traceId }] of rows) if (traceId === id) rows.delete(key)
}

/**
 * The parts that were changed after their message was added, each with the exact JSON text from the client: an update
 * writes only the changed parts, however large the message is. A removed part keeps its row: the row of the message has the
 * number of parts, and a later part in its place overwrites the row.
 */
export const parts = projectionOf<TraceEvent>()<Changes>({
  name: 'parts',
  tables: `${messagePartsTable.create}
    alter table message_parts alter body set storage external;
    alter table message_parts alter body set statistics 0;
    alter table message_parts alter fact set statistics 0;`,
  rows: { message_parts: { trace: 'trace_id' } },
  indexes: '',
  start: () => new Map(),
  on: {
    MessageUpdated: (rows, { streamId: traceId, data: { ordinal, patch } }) => {
      for (const operation of patch) {
        const index = partIndex(operation.path)
        if (index === undefined || operation.op === 'remove') continue
        rows.set(`${traceId}/${ordinal}/${index}`, { traceId, ordinal, index, part: operation.value as StoredPart })
      }
    },
    TraceDeleted: forget,
    HistoryErased: forget,
    TraceArriving: 'ignored',
    MessageRestated: 'ignored',
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    MessageAdded: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: (rows, write) => {
    if (rows.size === 0) return
    write(
      'parts-upsert',
      `insert into message_parts (incarnation, ${changed.columns})
       select ${required(PRESENT_INCARNATION, 'int8', 'u.trace_id')}, u.* from ${changed.as('u')}
       on conflict (trace_id, incarnation, ordinal, position) do update set head = excluded.head, body = excluded.body,
         fact = excluded.fact`,
      changed.values([...rows.values()]),
    )
  },
})
