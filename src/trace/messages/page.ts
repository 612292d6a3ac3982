import type { MessageList } from '../../contract/messages.ts'
import { type JsonText, type MemberTexts, endOfList, jsonText } from '../../http/json-text.ts'
import { jsonArray } from '../../http/reply.ts'
import { PAGE_BYTES } from '../../http/list-page.ts'
import type { MessageListRow } from './queries.ts'
import { messageText } from './views.ts'

/** What of a list of messages one answer shows: all of it, or as much as fits where a limit is given. */
export const newMessagePage = (limit: number | undefined) => {
  let [shown, bytes, isFull] = [0, 0, false]
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
    /** The message behind which the list goes on; undefined when all was shown. */
    goesOnBehind: (): MessageListRow | undefined => (isFull ? last : undefined),
  }
}

const endMembers = (cursor: string | undefined, revision: bigint): MemberTexts<Omit<MessageList, 'messages'>> => ({
  nextCursor: cursor === undefined ? undefined : `"${cursor}"`,
  revision: String(revision),
})

/** What comes behind the messages of an answer: where the list goes on, if it does, and the revision that it shows. */
export const pageEnd = (cursor: string | undefined, revision: bigint): string =>
  endOfList<MessageList, 'messages'>(endMembers(cursor, revision))

/** A page that is answered at once. */
export const listText = (
  messages: readonly string[],
  cursor: string | undefined,
  revision: bigint,
): JsonText<MessageList> => jsonText({ messages: jsonArray(messages), ...endMembers(cursor, revision) })
