import type { FeedTrace } from '../contract/feed.ts'
import type { Row } from '../engine/reads.ts'
import { fitting, pageRows } from '../http/list-page.ts'
import { cursorBehind, orderValues, orderedIds, placeOf, shownOrder } from '../trace/lists.ts'
import { type FeedRow, type FeedSources, feedColumns, feedTables, toEntry } from './queries.ts'

/** A page of a list, and the cursor of the next one if there is one. */
export type SessionList = { readonly traces: readonly FeedTrace[]; readonly nextCursor: string | undefined }

const startedStatement = (publicOnly: boolean): string =>
  pageRows(
    `select ${feedColumns} from (${orderedIds('startedAt', publicOnly)} limit $4) f ${feedTables}`,
    shownOrder('startedAt'),
  )

export const sessionStatements = { public: startedStatement(true), all: startedStatement(false) } as const

/**
 * The traces of a namespace as the feed shows them, the latest session first; `publicOnly` for callers who are not members.
 * @throws 400 for a cursor that is not of this list
 */
export const sessionsOfNamespace = async (
  services: FeedSources,
  options: {
    readonly namespaceId: string
    readonly publicOnly: boolean
    readonly limit: number
    readonly cursor: string | undefined
  },
): Promise<SessionList> => {
  const { namespaceId, publicOnly, limit, cursor } = options
  const kind = publicOnly ? 'public' : 'all'
  const place = placeOf({ sort: 'startedAt', cursor })
  const rows = await services.reads.rows<FeedRow & Row>(`sessions-${kind}`, sessionStatements[kind], [
    ...orderValues(namespaceId, place),
    limit + 1,
  ])
  const entries = rows.map((row) => toEntry(row, services))
  const count = fitting(
    entries.map(({ bytes }) => bytes),
    limit,
  )
  return {
    traces: entries.slice(0, count).flatMap(({ text }) => (text === '' ? [] : [JSON.parse(text) as FeedTrace])),
    nextCursor: rows.length > count && count > 0 ? cursorBehind('startedAt', rows[count - 1]!) : undefined,
  }
}
