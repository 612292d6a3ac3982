import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import { notFound } from '../http/http-error.ts'
import { listed, listedTrace } from './message-queries.ts'

/** Which messages a list shows, in order, and what tells whether one of them has been changed since. */
export type ListedMessages = {
  readonly ordinals: Int32Array
  /** The trace's revision, and the time of its last event, in the snapshot that the list is of. */
  readonly revision: bigint
  readonly at: bigint
  /** The digests of the messages that were written at that very time, by ordinal. */
  readonly newest: ReadonlyMap<number, string>
}

/** What is asked for: `values` as `messageValues` gives them, and what is known of the trace. */
export type WantedMessages = {
  readonly incarnation: bigint
  /** At least so many characters its messages weigh: they become more only. */
  readonly bytes: number
  readonly includeParts: boolean
  readonly values: readonly unknown[]
}

type KeysRow = { revision: bigint; at: bigint; ordinals: string | null; newest: string | null }

// Only numbers are kept while a list is being read: four bytes for each message. Rows are joined in the order in which
// the subquery gives them; an order in the aggregate would sort all of them once more.
export const listedStatement = `
  select t.revision, t.at, k.ordinals, k.newest from traces t cross join lateral (
    select string_agg(l.ordinal::text, ',') as ordinals,
      string_agg(l.ordinal || ' ' || l.digest, ',') filter (where l.updated_at = t.at) as newest
    from (${listed('m.ordinal, m.digest, m.updated_at')}) l
  ) k where ${listedTrace}`

const split = (text: string | null): string[] => (text === null ? [] : text.split(','))

/** The messages of a list, of one snapshot. @throws 404 when the trace is gone */
export const listedMessages = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  values: WantedMessages['values'],
): Promise<ListedMessages> => {
  const [row] = await reads.rows<KeysRow & Row>('messages-listed', listedStatement, values)
  if (!row) throw notFound()
  const newest = split(row.newest).map((text) => text.split(' ') as [string, string])
  return {
    ordinals: Int32Array.from(split(row.ordinals), Number),
    revision: row.revision,
    at: row.at,
    newest: new Map(newest.map(([ordinal, digest]) => [Number(ordinal), digest])),
  }
}

/** A message as a later snapshot has it, and the trace's revision there. */
export type LaterMessage = {
  readonly ordinal: number
  readonly digest: string
  readonly updated_at: bigint
  readonly revision: bigint
}

/**
 * Whether a message is still what it was in the snapshot that the list is of. Times within a stream never go back, so an
 * event behind that snapshot has a later time, or the time of the last event in it; then digests tell.
 */
export const isUnchanged = (listed: ListedMessages, message: LaterMessage): boolean => {
  if (message.revision < listed.revision) return false // read models that have lost their end tell nothing
  if (message.updated_at !== listed.at) return message.updated_at < listed.at
  return listed.newest.get(message.ordinal) === message.digest
}
