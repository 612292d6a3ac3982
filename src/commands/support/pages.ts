import type { HistoryClient, MessagesQuery, PastMessages } from '../../sync/api/history.ts'
import type { ListedTrace, PageQuery, TracePage } from '../../sync/api/traces.ts'

export type ReadPage = (page: PageQuery) => Promise<TracePage>

/** The pages of a list of traces; each is requested when the one before was used. */
export async function* tracePages(read: ReadPage, limit: number): AsyncGenerator<readonly ListedTrace[], void> {
  let cursor: string | undefined
  do {
    const { traces, nextCursor } = await read({ limit, ...(cursor === undefined ? {} : { cursor }) })
    yield traces
    cursor = nextCursor
  } while (cursor !== undefined)
}

export type Message = PastMessages['messages'][number]

const MESSAGES_PER_PAGE = 200

/** The messages of a trace with their parts, in order, requested page by page. */
export async function* messagesOf(
  history: Pick<HistoryClient, 'messages'>,
  externalId: string,
  query: MessagesQuery,
): AsyncGenerator<Message, void> {
  let cursor: string | undefined
  do {
    const page = { ...query, includeParts: true, limit: MESSAGES_PER_PAGE, ...(cursor === undefined ? {} : { cursor }) }
    const { messages, nextCursor } = await history.messages(externalId, page)
    yield* messages
    cursor = nextCursor
  } while (cursor !== undefined)
}
