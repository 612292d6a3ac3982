import type { MessageList } from '../../../contract/messages.ts'
import { type JsonText, type MemberTexts, endOfList, jsonText } from '../../http/json-text.ts'
import { jsonArray } from '../../http/reply.ts'
import { PAGE_BYTES } from '../../http/list-page.ts'
import type { MessageListRow } from './queries.ts'
import { messageText } from './views.ts'

/** The messages that one answer shows: all of the list, or as many as fit if a limit is given. */
export const newMessagePage = (limit: number | undefined) => {
  let shown = 0
  let bytes = 0
  let isFull = false
  let last: MessageListRow | undefined

  const toText = (row: MessageListRow): string | undefined => {
    isFull ||= shown === limit
    if (isFull) return undefined
    const text = messageText(row)
    if (limit !== undefined) bytes += Buffer.byteLength(text) + 1
    isFull = bytes > PAGE_BYTES && shown > 0
    if (isFull) return undefined
    shown += 1
    last = row
    return text
  }

  return {
    /** Undefined for a row beyond the page. */
    toText,
    textsOf: (rows: readonly MessageListRow[]) => rows.map(toText).filter((text) => text !== undefined),
    isFull: () => isFull,
    /** The message after which the next page begins; undefined if this is the last page. */
    continuesAfter: (): MessageListRow | undefined => (isFull ? last : undefined),
  }
}

const endMembers = (cursor: string | undefined, revision: bigint): MemberTexts<Omit<MessageList, 'messages'>> => ({
  nextCursor: cursor === undefined ? undefined : `"${cursor}"`,
  revision: String(revision),
})

/** The members of an answer after its messages: the cursor of the next page, if there is one, and the revision that the list shows. */
export const pageEnd = (cursor: string | undefined, revision: bigint): string =>
  endOfList<MessageList, 'messages'>(endMembers(cursor, revision))

/** A page that is answered at once. */
export const listText = (
  messages: readonly string[],
  cursor: string | undefined,
  revision: bigint,
): JsonText<MessageList> => jsonText({ messages: jsonArray(messages), ...endMembers(cursor, revision) })
