import { z } from 'zod'
import { ID_TEXT, type ReadTables, SLOT_MS, STARTED, listedBy, listedByAuthor } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { timeOrArrival } from '../../base/time-ahead.ts'
import { Sort } from '../../contract/traces.ts'
import { decodeCursor, encodeCursor, invalidCursor, pageRows } from '../http/list-page.ts'
import {
  FAR_FUTURE,
  NEWEST_FIRST,
  afterOf,
  cursorAfter,
  summaryColumns,
  summaryTables,
  summarySize,
} from './queries.ts'
import type { ListedRow } from './rows.ts'
import { childCount, isRoot, type ListReader } from './sub-agents.ts'

/** The time and id of the trace after which a page begins. */
type SortKeys = { readonly time: number; readonly id: string }

/** The order of a list, and where a page begins; `after` is undefined for the first page. */
export type ListPlace = { readonly sort: Sort; readonly after: SortKeys | undefined }

const Keys = z.tuple([Sort, z.number(), z.uuid()])

/** The order that a request asks for, and where its page begins. @throws 400 for a cursor that is not of this list */
export const listPlaceOf = ({
  sort = 'createdAt',
  cursor,
}: {
  sort?: Sort | undefined
  cursor?: string | undefined
}): ListPlace => {
  if (cursor === undefined) return { sort, after: undefined }
  if (sort === 'createdAt') {
    const { createdAt, id } = afterOf(cursor)!
    return { sort, after: { time: createdAt, id } }
  }
  const keys = decodeCursor(cursor, Keys)
  const isTime = keys !== undefined && (sort === 'startedAt' || Number.isSafeInteger(keys[1]))
  if (keys?.[0] !== sort || !isTime) throw invalidCursor()
  return { sort, after: { time: keys[1], id: keys[2] } }
}

type KeyedRow = Pick<ListedRow, 'id' | 'created_at' | 'started_at' | 'updated_at'>

/** The cursor of a page that begins after a trace. */
export const cursorAfterTrace = (sort: Sort, row: KeyedRow): string => {
  if (sort === 'createdAt') return cursorAfter(row)
  return encodeCursor(
    sort,
    sort === 'startedAt' ? timeOrArrival(row.started_at, Number(row.created_at)) : Number(row.updated_at),
    row.id,
  )
}

/** A condition for the traces of the namespace $1 that only one index can serve. */
export const ofNamespace = (hash: (namespaceId: string) => string) =>
  `${hash('namespace_id')} = ${hash('$1')} and namespace_id = $1`

/** SQL for each order, newest first: its traces, those after a time $2 and an id $3, and the sort keys of ids and of rows. */
const orders = {
  createdAt: {
    of: 'feed where namespace_id = $1',
    ofPublic: `feed where namespace_id = $1 and visibility = 'public'`,
    after: '(created_at, id) < ($2, $3)',
    keys: ['created_at', 'id'],
    shown: NEWEST_FIRST,
  },
  startedAt: {
    of: `traces where ${ofNamespace(listedBy.startedAt)}`,
    ofPublic: `traces where ${ofNamespace(listedBy.publicStartedAt)} and visibility = 'public'`,
    after: `(${STARTED}, ${ID_TEXT}) < ($2::float8, $3::uuid::text)`,
    keys: [STARTED, ID_TEXT],
    shown: `${STARTED} desc, id desc`,
  },
  // The index has the slot of ten minutes, so that not each batch changes it. Only traces of the same slot have to be sorted.
  updatedAt: {
    of: `traces where ${ofNamespace(listedBy.updatedAt)}`,
    ofPublic: `traces where ${ofNamespace(listedBy.publicUpdatedAt)} and visibility = 'public'`,
    after: `updated_slot <= $2::int8 / ${SLOT_MS} and (updated_at, id) < ($2::int8, $3)`,
    keys: ['updated_slot', 'updated_at', 'id'],
    shown: 'updated_at desc, id desc',
  },
} as const satisfies Record<Sort, object>

/** Which traces of a namespace a list has: all, or only public ones; with `rootsOnly` without sub-agents whose parent the reader may read. */
export type Listed = { readonly publicOnly?: boolean; readonly rootsOnly?: boolean }

const readerOf = ({ publicOnly = false }: Listed): ListReader => (publicOnly ? 'anybody' : 'member')

/** SQL for rows with these sort keys, the newest first. */
export const newestFirst = (keys: readonly string[]): string => keys.map((key) => `${key} desc`).join(', ')

/** SQL for the traces of a namespace after a place, and the sort keys of their order; `orderValues` are its parameters. */
export const tracesAfter = (
  sort: Sort,
  publicOnly: boolean,
): { readonly from: string; readonly keys: readonly string[] } => {
  const { of, ofPublic, after, keys } = orders[sort]
  return { from: `${publicOnly ? ofPublic : of} and ${after}`, keys }
}

/** The same of those that the user $5 has created, by their start. */
export const authoredAfter = {
  from: `traces where ${listedByAuthor('namespace_id', 'created_by')} = ${listedByAuthor('$1', '$5')}
    and namespace_id = $1 and created_by = $5 and ${orders.startedAt.after}`,
  keys: orders.startedAt.keys,
}

/** SQL for the ids of the traces of a namespace in an order, from a place on; `orderValues` are its parameters. */
export const orderedIds = (sort: Sort, listed: Listed = {}): string => {
  const { from, keys } = tracesAfter(sort, listed.publicOnly ?? false)
  const roots = listed.rootsOnly ? ` and ${isRoot(sort === 'createdAt' ? 'feed' : 'traces', readerOf(listed))}` : ''
  return `select id from ${from}${roots} order by ${newestFirst(keys)}`
}

/** SQL for the ids of the roots of a namespace, for its members, that the user $5 has created, by their start, from a place on. */
export const authoredIds = `select id from ${authoredAfter.from} and ${isRoot('traces', 'member')} order by ${newestFirst(authoredAfter.keys)}`

/** SQL for the order of the rows of a list. */
export const shownOrder = (sort: Sort): string => orders[sort].shown

/** SQL for the columns of a list: with `rootsOnly` also how many sub-agents there are. */
export const listedColumns = (listed: Listed): string =>
  listed.rootsOnly ? `${summaryColumns}, ${childCount(readerOf(listed))}` : summaryColumns

export const listStatement = (sort: Sort, listed: Listed): string =>
  pageRows(
    `
  select ${listedColumns(listed)}, ${summarySize} as size from (${orderedIds(sort, listed)} limit $4) f ${summaryTables}`,
    orders[sort].shown,
  )

/** The end of the name of a statement about such a list. */
export const listName = ({ publicOnly, rootsOnly }: Listed): string =>
  `${publicOnly ? 'public' : 'list'}${rootsOnly ? '-roots' : ''}`

/** The place before the first trace of each list. */
const FIRST = {
  createdAt: { time: FAR_FUTURE.createdAt, id: FAR_FUTURE.id },
  startedAt: { time: Infinity, id: FAR_FUTURE.id },
  updatedAt: { time: Number.MAX_SAFE_INTEGER, id: FAR_FUTURE.id },
} as const

/** The parameters $1 to $3 of `orderedIds`. */
export const orderValues = (namespaceId: string, { sort, after }: ListPlace): unknown[] => {
  const { time, id } = after ?? FIRST[sort]
  return [namespaceId, time, id]
}

/** The traces of a namespace in an order, from a place on; `publicOnly` for callers who are not members. */
export const listTraces = (
  reads: Reads<ReadTables>,
  { namespaceId, limit, place, ...listed }: Listed & { namespaceId: string; limit: number; place: ListPlace },
): Promise<ListedRow[]> => {
  const { sort } = place
  const values = [...orderValues(namespaceId, place), limit]
  return reads.rows<ListedRow & Row>(`traces-${listName(listed)}-${sort}`, listStatement(sort, listed), values)
}
