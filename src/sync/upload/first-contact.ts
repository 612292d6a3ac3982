import { parseExact } from '../../base/json/exact.ts'
import { newHashedMap } from '../agents/support/hashed-map.ts'
import type { PastMessages } from '../api/history.ts'
import { pagesOf } from '../api/pages.ts'
import type { Connection } from '../login/connect.ts'
import type { EncodedMessage } from './encode.ts'
import { type AnyMessage, isSameMessage, isEarlierVersion } from './within.ts'

type Message = PastMessages['messages'][number]

/** How many messages are read at once, and kept until others are needed. */
const PAGE = 100

/** Returns the messages with these ids that the service has. Throws RequestFailed. */
type StoredMessages = (ids: readonly string[]) => Promise<ReadonlyMap<string, Message>>

type ListPage = (cursor: string | undefined, includeParts: boolean) => Promise<PastMessages>

/** The page of each message, and the cursor of each page. */
const newIndex = async (list: ListPage) => {
  const [pageOf, cursors]: [ReturnType<typeof newHashedMap>, (string | undefined)[]] = [newHashedMap(), []]
  const read = (cursor: string | undefined) => {
    cursors.push(cursor)
    return list(cursor, false)
  }
  for await (const { messages } of pagesOf(read))
    for (const { externalId } of messages) pageOf.add(externalId, cursors.length - 1)
  return { pageOf, cursors }
}

/**
 * The messages of a trace. The ids are read first; then only the pages with wanted messages, so that never all messages are in
 * memory.
 */
const newStoredMessages = ({ api, namespaceSlug: namespace }: Connection, externalId: string): StoredMessages => {
  const list: ListPage = (cursor, includeParts) =>
    api.messages(externalId, { namespace, limit: PAGE, includeParts, ...(cursor === undefined ? {} : { cursor }) })
  let index: ReturnType<typeof newIndex> | undefined
  let read = new Map<string, Message>()

  /** Reads from a page on until all wanted messages are found, because others may write to the trace meanwhile. */
  const readFrom = async (cursor: string | undefined, wanted: Set<string>): Promise<void> => {
    for (let at = cursor, isFirst = true; wanted.size > 0 && (isFirst || at !== undefined); isFirst = false) {
      const { messages, nextCursor } = await list(at, true)
      for (const message of messages) {
        read.set(message.externalId, message)
        wanted.delete(message.externalId)
      }
      at = nextCursor
    }
  }

  return async (ids) => {
    const { pageOf, cursors } = await (index ??= newIndex(list))
    const stored = ids.filter((id) => pageOf.get(id) !== undefined)
    const missing = stored.filter((id) => !read.has(id))
    if (missing.length > 0) {
      read = new Map(stored.flatMap((id) => (read.has(id) ? [[id, read.get(id)!]] : [])))
      const byPage = Map.groupBy(missing, (id) => pageOf.get(id)!)
      for (const [page, ofPage] of [...byPage].sort(([a], [b]) => a - b))
        await readFrom(cursors[page], new Set(ofPage.filter((id) => !read.has(id))))
    }
    return new Map(stored.flatMap((id) => (read.has(id) ? [[id, read.get(id)!]] : [])))
  }
}

type Batch = readonly EncodedMessage[]

/** The messages of a batch that the service lacks or has otherwise, those that are equal, and those that are longer there. */
type Compared = { readonly toSend: Batch; readonly same: Batch; readonly shorter: Batch }

/**
 * Compares batches with an existing trace before anything is sent to it from a source: others may have sent a later version of the
 * session, which must not lose anything. Throws RequestFailed.
 */
export const newComparison = (connection: Connection, externalId: string): ((batch: Batch) => Promise<Compared>) => {
  const storedMessages = newStoredMessages(connection, externalId)
  return async (batch) => {
    const stored = await storedMessages(batch.map(({ externalId: id }) => id))
    const kindOf = ({ externalId: id, json }: EncodedMessage): keyof Compared => {
      const found = stored.get(id)
      if (!found) return 'toSend'
      const message = parseExact(json.toString()) as AnyMessage
      if (isSameMessage(message, found)) return 'same'
      return isEarlierVersion(message, found) && !isEarlierVersion(found, message) ? 'shorter' : 'toSend'
    }
    const { toSend = [], same = [], shorter = [] } = Object.groupBy(batch, kindOf)
    return { toSend, same, shorter }
  }
}
