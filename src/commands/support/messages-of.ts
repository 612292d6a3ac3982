import type { HistoryClient, MessagesQuery, PastMessages } from '../../sync/api/history.ts'

export type Message = PastMessages['messages'][number]

const PAGE = 200

/** The messages of a trace with their parts, in order, page by page. */
export async function* messagesOf(
  history: Pick<HistoryClient, 'messages'>,
  externalId: string,
  query: MessagesQuery,
): AsyncGenerator<Message, void> {
  let cursor: string | undefined
  do {
    const page = { ...query, includeParts: true, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }
    const { messages, nextCursor } = await history.messages(externalId, page)
    yield* messages
    cursor = nextCursor
  } while (cursor !== undefined)
}
