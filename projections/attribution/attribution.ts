import { type Sender, projectionOf } from '../../src/eventstore/engine/projection.ts'
import type { TraceEvent } from '../../src/server/trace/events.ts'
import {
  hashColumns,
  indexShown,
  indexWritten,
  shownFilesTable,
  usedKeysTable,
  writtenFilesTable,
} from '../../src/tables/attribution.ts'
import { type Changes, historyErased, messageAdded, messageUpdated, traceDeleted } from './changes.ts'
import { makeFacts } from './make-facts.ts'
import { withLostKeys } from './keys.ts'
import { removeTraces } from './rows.ts'

/** Lets the statements of this transaction read the tables of the main group as well. */
const openMainSchema = ({ write }: Sender, mainSchema: string): void =>
  write('search-path', "select set_config('search_path', current_schema() || ',' || $1, true)", [mainSchema])

/**
 * What the calls of sessions wrote, for attribution. Messages are read from the present rows of the main group, so the order of their changes does not
 * matter. Whether a call has failed, whether it is a copy, and what was written earlier into a file is found out when asked: so the rows of a trace
 * depend on that trace alone.
 */
export const attribution = (mainSchema: string) =>
  projectionOf<TraceEvent>()<Changes>({
    name: 'attribution',
    tables: `${writtenFilesTable.create} ${hashColumns} ${shownFilesTable.create} ${indexShown} ${usedKeysTable.create}`,
    rows: {
      written_files: { trace: 'trace_id' },
      shown_files: { trace: 'trace_id' },
      used_keys: { namespace: 'namespace_id' },
    },
    notCompared: ['used_keys'], // a rebuild has none of a namespace whose traces are deleted
    indexes: indexWritten,
    start: () => new Map(),
    on: {
      MessageAdded: messageAdded,
      MessageUpdated: messageUpdated,
      HistoryErased: historyErased,
      TraceDeleted: traceDeleted,
      TraceCreated: 'ignored',
      TraceUpdated: 'ignored',
      TraceSummarised: 'ignored',
      MessagesCounted: 'ignored',
      MessageRestated: 'ignored',
      TraceArriving: 'ignored',
    },
    write: (changes, write) =>
      removeTraces(
        [...changes].flatMap(([id, { isRemoved }]) => (isRemoved ? [id] : [])),
        write,
      ),
    derive: (changes, sender) => {
      const messages = [...changes].flatMap(([traceId, { messages: some }]) =>
        [...some].map(([ordinal, reading]) => ({ traceId, ordinal, ...reading })),
      )
      if (messages.length === 0) return undefined
      openMainSchema(sender, mainSchema)
      return withLostKeys(sender, messages).then((all) => makeFacts(sender, all))
    },
  })
