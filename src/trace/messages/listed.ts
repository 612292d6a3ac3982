import type { ReadTables } from '../../../projections/tables.ts'
import type { Reads, Row } from '../../engine/reads.ts'
import { notFound } from '../../http/http-error.ts'
import { type Chosen, type WantedMessages, listed, listedTrace } from './queries.ts'

/** Which messages a list shows, in order, and the trace's revision in the snapshot that the list is of. */
export type ListedMessages = { readonly ordinals: Int32Array; readonly revision: bigint }

type KeysRow = { revision: bigint; ordinals: string | null }

// Only numbers are kept while a list is being read: four bytes for each message. Rows are joined in the order in which
// the subquery gives them; an order in the aggregate would sort all of them once more.
export const listedStatement = (chosen: Chosen = 'all'): string => `
  select t.revision, k.ordinals from traces t cross join lateral (
    select string_agg(l.ordinal::text, ',') as ordinals from (${listed('m.ordinal', chosen)}) l
  ) k where ${listedTrace}`

/** The messages of a list, of one snapshot. @throws 404 when the trace is gone */
export const listedMessages = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  { chosen, values }: Pick<WantedMessages, 'chosen' | 'values'>,
): Promise<ListedMessages> => {
  const [row] = await reads.rows<KeysRow & Row>(`messages-listed-${chosen}`, listedStatement(chosen), values)
  if (!row) throw notFound()
  return { ordinals: Int32Array.from(row.ordinals?.split(',') ?? [], Number), revision: row.revision }
}

/** The revisions of a message's last event, and of its trace, in a later snapshot. */
export type LaterMessage = { readonly revision: bigint; readonly trace_revision: bigint }

/** Whether a message is still what it was in the snapshot that the list is of. */
export const isUnchanged = (listed: Pick<ListedMessages, 'revision'>, message: LaterMessage): boolean =>
  // Read models that have lost their end tell nothing.
  message.trace_revision >= listed.revision && message.revision <= listed.revision
