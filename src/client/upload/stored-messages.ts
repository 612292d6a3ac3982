import { newHashedMap } from '../agents/support/hashed-map.ts'
import { hasStatus } from '../api/errors.ts'
import type { PastMessages } from '../api/history.ts'
import { pagesOf } from '../api/pages.ts'
import type { Connection } from '../login/connect.ts'

/** A message as the service gives it. */
export type StoredMessage = PastMessages['messages'][number]

/** How many messages are read at once, and kept until others are needed. */
const PAGE = 100
/** For so few messages their places in the list are not looked for. */
const FEW = 3

/** Messages that the service has of a trace: all, or those that were written after a revision. */
export type StoredMessages = {
  /** That of the trace when they were listed. */
  readonly revision: number
  readonly has: (externalId: string) => boolean
  /** Those with these ids. Throws RequestFailed. */
  readonly read: (ids: readonly string[]) => Promise<ReadonlyMap<string, StoredMessage>>
}

type ListPage = (cursor: string | undefined, includeParts: boolean) => Promise<PastMessages>

const listOf =
  ({ api, namespaceSlug: namespace }: Connection, externalId: string, changedSince: number | undefined): ListPage =>
  (cursor, includeParts) =>
    api.messages(externalId, {
      namespace,
      limit: PAGE,
      includeParts,
      ...(cursor === undefined ? {} : { cursor }),
      ...(changedSince === undefined ? {} : { changedSince: `${changedSince}` }),
    })

/** The page of each message, and the cursor of each page. */
const readIndex = async (list: ListPage, onPage: (ids: readonly string[]) => void) => {
  const [pageOf, cursors]: [ReturnType<typeof newHashedMap>, (string | undefined)[]] = [newHashedMap(), []]
  const read = (cursor: string | undefined) => {
    cursors.push(cursor)
    return list(cursor, false)
  }
  let first: number | undefined
  for await (const { messages, revision } of pagesOf(read)) {
    first ??= revision
    for (const { externalId } of messages) pageOf.add(externalId, cursors.length - 1)
    onPage(messages.map(({ externalId }) => externalId))
  }
  return { pageOf, cursors, revision: first! }
}

/**
 * Lists the messages of a trace that were written after a revision, or all without one: their ids at first; then only the pages with those
 * that are needed, so that never all messages are in memory. `onPage` gets the ids. Undefined if the namespace has no such trace.
 * Throws RequestFailed.
 */
export const listMessages = async (
  connection: Connection,
  externalId: string,
  since?: number,
  onPage: (ids: readonly string[]) => void = () => {},
): Promise<StoredMessages | undefined> => {
  const list = listOf(connection, externalId, since)
  const index = await readIndex(list, onPage).catch((error: unknown) => {
    if (hasStatus(error, 404)) return undefined
    throw error
  })
  if (!index) return undefined
  const { pageOf, cursors, revision } = index
  let kept = new Map<string, StoredMessage>()

  /** Reads from a page on until all wanted messages are found, because others may write to the trace meanwhile. */
  const readFrom = async (cursor: string | undefined, wanted: Set<string>): Promise<void> => {
    for (let at = cursor, isFirst = true; wanted.size > 0 && (isFirst || at !== undefined); isFirst = false) {
      const { messages, nextCursor } = await list(at, true)
      for (const message of messages) {
        kept.set(message.externalId, message)
        wanted.delete(message.externalId)
      }
      at = nextCursor
    }
  }

  const read = async (ids: readonly string[]) => {
    const stored = ids.filter((id) => pageOf.get(id) !== undefined)
    const missing = stored.filter((id) => !kept.has(id))
    if (missing.length > 0) {
      kept = new Map(stored.flatMap((id) => (kept.has(id) ? [[id, kept.get(id)!]] : [])))
      const byPage = Map.groupBy(missing, (id) => pageOf.get(id)!)
      for (const [page, ofPage] of [...byPage].sort(([a], [b]) => a - b))
        await readFrom(cursors[page], new Set(ofPage.filter((id) => !kept.has(id))))
    }
    return new Map(stored.flatMap((id) => (kept.has(id) ? [[id, kept.get(id)!]] : [])))
  }
  return { revision, has: (id) => pageOf.get(id) !== undefined, read }
}

/** Reads a few messages, each by its id. */
const readFew = async (
  { api, namespaceSlug: namespace }: Connection,
  externalId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredMessage>> => {
  const found = ids.map(async (around) => {
    const query = { namespace, around, limit: 1, includeParts: true }
    const { messages } = await api.messages(externalId, query).catch((error: unknown) => {
      if (hasStatus(error, 404)) return { messages: [] }
      throw error
    })
    return messages.filter((message) => message.externalId === around)
  })
  return new Map((await Promise.all(found)).flat().map((message) => [message.externalId, message]))
}

/** Reads messages of a trace by their ids. Their places in the list are looked for once, when many are wanted. Throws RequestFailed. */
export const newReadMessages = (): typeof readFew => {
  let all: StoredMessages | undefined
  return async (connection, externalId, ids) => {
    if (ids.length <= FEW) return readFew(connection, externalId, ids)
    all ??= await listMessages(connection, externalId)
    return (await all?.read(ids)) ?? new Map()
  }
}
