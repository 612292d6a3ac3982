import type { HistoryClient, MessagesQuery, PastMessages } from '../../client/api/history.ts'
import { pagesOf } from '../../client/api/pages.ts'
import type { ListedTrace, PageQuery, TracePage } from '../../client/api/traces.ts'

export type ReadPage = (page: PageQuery) => Promise<TracePage>

/** The pages of a list of traces; each is requested when the one before was used. */
export async function* tracePages(read: ReadPage, limit: number): AsyncGenerator<readonly ListedTrace[], void> {
  for await (const { traces } of pagesOf((cursor) => read({ limit, ...(cursor === undefined ? {} : { cursor }) })))
    yield traces
}

export type Message = PastMessages['messages'][number]

const MESSAGES_PER_PAGE = 200

/** The messages of a trace with their parts, in order, requested page by page. */
export async function* messagesOf(
  history: Pick<HistoryClient, 'messages'>,
  externalId: string,
  query: MessagesQuery,
): AsyncGenerator<Message, void> {
  const whole = { ...query, includeParts: true, limit: MESSAGES_PER_PAGE }
  const read = (cursor: string | undefined) =>
    history.messages(externalId, cursor === undefined ? whole : { ...whole, cursor })
  for await (const { messages } of pagesOf(read)) yield* messages
}
