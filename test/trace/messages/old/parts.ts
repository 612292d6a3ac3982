import { projectionOf, type WriteStatement } from '../../../../src/engine/projection.ts'
import type { TraceEvent } from '../../../../src/trace/events.ts'
import { headOfPart, partHeadLine } from '../../../../src/trace/messages/heads.ts'
import { partIndex } from '../../../../src/trace/messages/message.ts'
import { partText } from '../../../../src/trace/messages/part-text.ts'
import type { StoredPart } from '../../../../src/trace/messages/part.ts'
import { type NewRows, newRows } from '../../../../projections/support/new-rows.ts'
import { PRESENT_INCARNATION, byKey, required } from '../../../../projections/support/sql.ts'
import { erasedFrom } from '../../../../projections/tables.ts'
import { tableOf } from '../../../../projections/table.ts'

const partsTable = tableOf(
  'parts',
  {
    trace_id: 'uuid not null',
    incarnation: 'int8 not null',
    ordinal: 'int4 not null',
    position: 'int4 not null',
    head: 'text collate "C" not null',
    body: 'json not null',
  },
  { constraint: 'primary key (trace_id, incarnation, ordinal, position)', storage: erasedFrom },
)

/** Which part: the message, and the part's index in it (column `position`). */
type PartKey = { readonly traceId: string; readonly ordinal: number; readonly index: number }
type Row = PartKey & { part: StoredPart }

/** Parts by message and index; `part` is undefined where a stored part is removed. */
type Changes = {
  readonly inserted: NewRows<Row>
  readonly replaced: Map<string, PartKey & { readonly part: StoredPart | undefined }>
}

const keyOf = ({ traceId, ordinal, index }: PartKey) => `${traceId}/${ordinal}/${index}`

const forget = (rows: Map<string, PartKey>, traceId: string) => {
  for (const [key, row] of rows) if (row.traceId === traceId) rows.delete(key)
}

const keyColumns = {
  trace_id: ({ traceId }: PartKey) => traceId,
  ordinal: ({ ordinal }: PartKey) => ordinal,
  position: ({ index }: PartKey) => index,
}
const keys = partsTable.unnest<PartKey>(keyColumns)
const whole = partsTable.unnest<Row>({
  ...keyColumns,
  head: ({ part }) => partHeadLine(headOfPart(part)),
  body: ({ part, index }) => partText(part.json, index),
})

const insert = `
  insert into parts (incarnation, ${whole.columns}) select ${required(PRESENT_INCARNATION, 'int8', 'u.trace_id')}, u.* from ${whole.as('u')}`

const writeReplaced = (
  changed: readonly (PartKey & { readonly part: StoredPart | undefined })[],
  write: WriteStatement,
) => {
  const present = changed.filter((row): row is Row => row.part !== undefined)
  const removed = changed.filter((row) => row.part === undefined)
  if (present.length > 0) {
    write(
      'old-parts-upsert',
      `${insert} on conflict (trace_id, incarnation, ordinal, position)
       do update set head = excluded.head, body = excluded.body`,
      whole.values(present),
    )
  }
  if (removed.length === 0) return
  write(
    'old-parts-remove',
    `delete from parts p using ${keys.as('u')}
       ${byKey('parts', `r.trace_id = u.trace_id and r.incarnation = ${PRESENT_INCARNATION} and r.ordinal = u.ordinal and r.position = u.position`)}
     where p.ctid = found.ctid`,
    keys.values(removed),
  )
}

/** The parts of all messages, each with the exact JSON text that the client sent. */
export const parts = projectionOf<TraceEvent>()<Changes>({
  name: 'old-parts',
  tables: `${partsTable.create}
    alter table parts alter body set storage external;`,
  rows: { parts: { trace: 'trace_id' } },
  indexes: '',
  start: () => ({ inserted: newRows<Row>(keyOf), replaced: new Map() }),
  on: {
    MessageAdded: ({ inserted }, { streamId: traceId, data: { ordinal, parts } }) => {
      for (const [index, part] of parts.entries()) inserted.add({ traceId, ordinal, index, part })
    },
    MessageUpdated: ({ inserted, replaced }, { streamId: traceId, data: { ordinal, patch } }) => {
      for (const operation of patch) {
        const index = partIndex(operation.path)
        if (index === undefined) continue
        const key = { traceId, ordinal, index }
        const row = inserted.find(keyOf(key))
        const part = operation.op === 'remove' ? undefined : (operation.value as StoredPart)
        if (!row) replaced.set(keyOf(key), { ...key, part })
        else if (part) row.part = part
        else inserted.remove(row)
      }
    },
    TraceDeleted: ({ inserted, replaced }, { streamId: id }) => {
      inserted.removeAll(({ traceId }) => traceId === id)
      forget(replaced, id)
    },
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ inserted, replaced }, write) => {
    if (inserted.all().length > 0) write('old-parts-insert', insert, whole.values(inserted.all()))
    if (replaced.size > 0) writeReplaced([...replaced.values()], write)
  },
})
