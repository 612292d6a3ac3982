import type { TraceDetail } from '../../contract/trace.ts'
import type { UserView } from '../../contract/user.ts'
import { newHashLine } from '../../base/line-hashes.ts'
import { ask } from '../attribution/ask.ts'
import type { AttributionServices } from '../attribution/services.ts'
import { sessionsOfNamespace } from '../feed/session-lists.ts'
import type { Caller } from '../http/caller.ts'
import { requireNamespace } from '../http/caller.ts'
import { toHttpError } from '../http/errors.ts'
import { BrokenOff, type Reader } from '../http/long-list.ts'
import type { LongLists } from '../http/long-lists.ts'
import type { NodePermits } from '../http/node-permits.ts'
import type { Client } from '../../base/permits.ts'
import { idOfSlug, namespaceById, namespaceOfMember } from '../namespace/queries.ts'
import { type SearchServices, search } from '../search/search.ts'
import { locateWhereverMoved } from '../trace/locate.ts'
import { CHUNK_SIZE, chunkSizeOf, chunksOf, messageChunks } from '../trace/messages/chunks.ts'
import { cursorAfterMessage, readCursor } from '../trace/messages/cursor.ts'
import { newMessagePage } from '../trace/messages/page.ts'
import { keysBefore, windowOf } from '../trace/messages/places.ts'
import { ALL_MESSAGES, type MessageListRow } from '../trace/messages/queries.ts'
import { messageText } from '../trace/messages/views.ts'
import { shownRow } from '../trace/model-names.ts'
import { checkRight } from '../trace/right-to-read.ts'
import { detailText } from '../trace/views.ts'
import { MOST_KEPT } from '../../transcript/changes.ts'
import { userById } from '../user/queries.ts'
import type { Entry, SessionName, Sessions, StoredMessage } from './sessions.ts'

export type McpServices = SearchServices &
  AttributionServices & {
    readonly longLists: LongLists
    readonly permits: Pick<NodePermits, 'turns'>
  }

/** The caller of a request, and the values of the request that reading for it needs. */
type CallerContext = {
  readonly caller: Caller
  readonly client: Client
  readonly origin: string
  /** Reserves the memory that making an answer takes; waits for it. @throws Busy; Unavailable if the client has left */
  readonly reserve: (bytes: number) => Promise<void>
  /** Whether the client has closed its connection: then nothing more is read for it. */
  readonly hasLeft: () => boolean
  /** Called with errors that are the service's own. */
  readonly onFault: (error: unknown) => void
}

const nameOf = ({ id, displayName = id }: UserView): string => displayName

const stored = (row: MessageListRow): StoredMessage => ({ json: messageText(row), createdAt: Number(row.created_at) })

/** The sessions that a caller of this service may read. Each call checks the rights at its time. */
export const sessionsOfCaller = (
  services: McpServices,
  { caller, client, origin, reserve, hasLeft, onFault }: CallerContext,
): Sessions => {
  const { reads, models, longLists, permits, now } = services
  const limited = <T>(work: () => Promise<T>): Promise<T> => longLists.turn(client, work)
  const locate = (name: SessionName) => locateWhereverMoved(reads, name, caller)

  /** Each chunk is read under the limit of concurrent reads. */
  async function* inChunks<Chunk>(chunks: AsyncGenerator<Chunk, void>): AsyncGenerator<Chunk, void> {
    for (;;) {
      if (hasLeft()) throw new BrokenOff('the reader has closed the connection')
      const { done, value } = await limited(() => chunks.next())
      if (done) return
      yield value
    }
  }

  /** Checks, after a long reading, that the caller may still read the session. */
  const confirmRight = (reader: Reader, incarnation: bigint) => checkRight(reads, reader, incarnation)

  const list: Sessions['list'] = async ({ namespace = caller.namespace?.slug, limit, cursor }) => {
    if (namespace === undefined) return { sessions: [] }
    const { id, role } = await namespaceById(reads, idOfSlug(namespace), caller.userId)
    const which = role === undefined ? ({ kind: 'public' } as const) : ({ kind: 'all', member: caller.userId } as const)
    const page = await limited(() => sessionsOfNamespace(services, { namespaceId: id, which, limit, cursor }))
    const sessions = page.traces.map((trace): Entry => {
      return { trace, slug: trace.namespace.slug, author: trace.author ? nameOf(trace.author) : 'unknown' }
    })
    return { sessions, nextCursor: page.nextCursor }
  }

  const get: Sessions['get'] = async (name) => {
    const { trace } = await locate(name)
    const shown = JSON.parse(detailText(shownRow(await models.known(), trace))) as TraceDetail
    return { trace: shown, slug: shown.namespace.slug, author: nameOf(await userById(reads, trace.created_by)) }
  }

  const messages: Sessions['messages'] = async (name, { limit, cursor, around }) => {
    const { trace, reader } = await locate(name)
    await reserve(2 * chunkSizeOf(trace)) // a chunk, and what is made of it
    const after =
      around === undefined
        ? readCursor(trace, 'present', cursor)?.after
        : await keysBefore(reads, trace, around, Math.floor(limit / 2))
    const page = newMessagePage(limit)
    const found: StoredMessage[] = []
    let revision = 0n
    const wanted = { includeParts: true, limit: limit + 1, after, userId: caller.userId }
    for await (const chunk of inChunks(messageChunks(reads, trace, wanted))) {
      revision ||= chunk.revision
      for (const row of chunk.rows) if (page.toText(row) !== undefined) found.push(stored(row))
      if (page.isFull()) break
    }
    await confirmRight(reader, trace.incarnation)
    const last = page.continuesAfter()
    return { messages: found, nextCursor: last && cursorAfterMessage(trace, 'present', last, revision) }
  }

  async function* allMessages(name: SessionName): AsyncGenerator<StoredMessage, void> {
    const { trace, reader } = await locate(name)
    const size = Number(trace.bytes)
    await reserve(Math.min(size, CHUNK_SIZE) + Math.min(size, MOST_KEPT)) // a chunk, and what is kept of all
    const { ordinals, revision } = await windowOf(reads, trace, { from: 0, count: ALL_MESSAGES })
    for await (const { rows } of inChunks(chunksOf(reads, trace, { ordinals, revision, includeParts: true })))
      yield* rows.map(stored)
    await confirmRight(reader, trace.incarnation)
  }

  const explain = (error: unknown): string => {
    if (error instanceof BrokenOff) return `The session could not be read to its end: ${error.message}. Try again.`
    const { code, message, details } = toHttpError(error)
    if (code === 'internal') onFault(error)
    if (code === 'invalid_request') return `${message}: ${JSON.stringify(details)}`
    return code === 'not_found' ? 'There is no such session, message or namespace, or you may not read it.' : message
  }

  const find: Sessions['search'] = ({ cursor, ...asked }) =>
    limited(() => search(services, { ...asked, ...(cursor === undefined ? {} : { cursor }) }, caller))

  const blame: Sessions['blame'] = async ({ path, lines, from, repository, namespace }) => {
    const slug = namespace ?? requireNamespace(caller).slug
    const { id } = await namespaceOfMember(reads, idOfSlug(slug), caller.userId)
    const key = await services.lineKeys.of(id)
    const hashLine = newHashLine(key.secret)
    const hunks = [{ path, start: from, added: lines.map((line) => hashLine(line) ?? '') }]
    const repositories = repository === undefined ? [] : [repository]
    const answer = await limited(() => ask(services, id, { key: key.id, hunks, repositories }))
    return { ...answer, ...answer.hunks[0]!, slug }
  }

  return {
    list,
    get,
    messages,
    allMessages,
    search: find,
    blame,
    turn: () => permits.turns.take(client),
    origin,
    now,
    explain,
  }
}
