import type { ReadRows, Sender, WriteStatement } from '../../src/eventstore/engine/projection.ts'
import { int8s, uuids } from '../../src/eventstore/postgres/arrays.ts'
import { keysOf, sizesStatement } from '../../src/server/trace/tokens/stored-rows.ts'
import type { RowOf } from '../../src/tables/table.ts'
import type { DocToWrite } from './read-docs.ts'
import { backlogTable } from '../../src/tables/search.ts'

/** The most bytes of texts that a batch indexes of one namespace, and of all together; the other rows wait. */
const MOST_OF_NAMESPACE = 128 * 1024
const MOST_OF_BATCH = 1024 * 1024
/** The most bytes of texts, and the most rows, in a portion of the backlog. A larger message is alone in its portion. */
const MOST_OF_PORTION = 1024 * 1024
const MOST_ROWS = 400
/** A row takes as long as so many bytes of text, besides its own. */
const ROW_BYTES = 256

/** The sizes of rows in bytes of text, however small their texts are stored. */
const sizesOf = async (read: ReadRows, docs: readonly DocToWrite[]): Promise<Map<DocToWrite, number>> => {
  const sizes = new Map(docs.map((doc) => [doc, ROW_BYTES]))
  if (docs.length === 0) return sizes
  for (const { nth, size } of await read<{ nth: number; size: bigint }>('search-sizes', sizesStatement, keysOf(docs)))
    sizes.set(docs[nth - 1]!, ROW_BYTES + Number(size))
  return sizes
}

type NamespaceOf = (traceId: string) => string | undefined

/** Counts what a batch indexes. */
const newBudget = () => {
  const used = new Map<string, number>()
  let all = 0
  const hasRoom = (namespace: string, bytes: number) =>
    (used.get(namespace) ?? 0) + bytes <= MOST_OF_NAMESPACE && all + bytes <= MOST_OF_BATCH
  return {
    hasRoom,
    take: (namespace: string, bytes: number): boolean => {
      if (!hasRoom(namespace, bytes)) return false
      used.set(namespace, (used.get(namespace) ?? 0) + bytes)
      all += bytes
      return true
    },
  }
}

/** Divides the rows of a batch into those that it writes and those that have to wait, without rows of traces that are not there any more. */
export const divide = async (read: ReadRows, docs: readonly DocToWrite[], namespaceOf: NamespaceOf) => {
  const budget = newBudget()
  const [now, later]: [DocToWrite[], DocToWrite[]] = [[], []]
  for (let from = 0; from < docs.length; from += MOST_ROWS) {
    const some = docs.slice(from, from + MOST_ROWS).filter(({ traceId }) => namespaceOf(traceId) !== undefined)
    const mayFit = some.filter(({ traceId }) => budget.hasRoom(namespaceOf(traceId)!, ROW_BYTES))
    const sizes = await sizesOf(read, mayFit)
    for (const doc of some) {
      const size = sizes.get(doc)
      const fits = size !== undefined && budget.take(namespaceOf(doc.traceId)!, size)
      ;(fits ? now : later).push(doc)
    }
  }
  return { now, later }
}

type Waiting = DocToWrite & { readonly namespaceId: string }

const columns = backlogTable.unnest<Waiting>({
  namespace_id: ({ namespaceId }) => namespaceId,
  trace_id: ({ traceId }) => traceId,
  ordinal: ({ ordinal }) => ordinal,
  position: ({ position }) => position,
  recorded_at: ({ recordedAt }) => recordedAt,
  is_new: ({ isNew }) => isNew,
})

/** Puts rows into the backlog. One that waits already stays as it is: its text is read when its turn comes. */
export const putIntoBacklog = (docs: readonly DocToWrite[], namespaceOf: NamespaceOf, write: WriteStatement): void => {
  if (docs.length === 0) return
  const waiting = docs.map((doc) => ({ ...doc, namespaceId: namespaceOf(doc.traceId)! }))
  write('search-wait', `${columns.insert} on conflict (trace_id, ordinal) do nothing`, columns.values(waiting))
}

const removeBefore = `
  delete from search_backlog b using unnest($1::uuid[], $2::int8[]) u (id, before)
  where b.trace_id = u.id and b.position < u.before`

/** Removes the rows of traces that came into the backlog before a position. */
export const removeFromBacklog = (traces: readonly (readonly [string, bigint])[], write: WriteStatement): void =>
  write('search-wait-no-more', removeBefore, [
    uuids(traces.map(([id]) => id)),
    int8s(traces.map(([, before]) => before)),
  ])

const removeDone = `
  delete from search_backlog b using unnest($1::uuid[], $2::int4[]) u (id, ordinal)
  where b.trace_id = u.id and b.ordinal = u.ordinal`

export const removeWritten = (docs: readonly DocToWrite[], write: WriteStatement): void =>
  write('search-waited', removeDone, keysOf(docs))

// The oldest rows of the namespace whose turn is after that of $1.
const oldest = `
  select namespace_id, trace_id, ordinal, position, recorded_at, is_new from search_backlog
  where namespace_id = coalesce(
    (select namespace_id from search_backlog where namespace_id > $1::uuid order by namespace_id limit 1),
    (select namespace_id from search_backlog order by namespace_id limit 1)
  )
  order by namespace_id, position, ordinal limit $2::int4`

type WaitingRow = RowOf<typeof backlogTable>

/** The namespace that had the last turn in a database session. */
const lastTurn = new WeakMap<object, string>()

/** The rows of the next portion: the oldest ones of the namespace whose turn it is. */
export const nextInBacklog = async ({ read, session }: Sender, mostRows = MOST_ROWS): Promise<DocToWrite[]> => {
  const rows = await read<WaitingRow>('search-waiting', oldest, [lastTurn.get(session) ?? null, mostRows])
  if (rows[0]) lastTurn.set(session, rows[0].namespace_id)
  const docs = rows.map(({ trace_id: traceId, ordinal, position, recorded_at, is_new: isNew }) => ({
    ...{ traceId, ordinal, position, isNew },
    recordedAt: Number(recorded_at),
  }))
  const sizes = await sizesOf(read, docs)
  let bytes = 0
  const end = docs.findIndex((doc, i) => (bytes += sizes.get(doc)!) > MOST_OF_PORTION && i > 0)
  return end < 0 ? docs : docs.slice(0, end)
}
