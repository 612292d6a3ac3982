import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { traceId } from '../../base/ids.ts'
import type { EntryType } from '../../contract/entry-types.ts'
import { type Entry, type EntryList, history } from '../../contract/history.ts'
import { type Caller, requireCaller } from '../http/caller.ts'
import { type JsonText, jsonText, type JsonTexts, jsonTexts } from '../http/json-text.ts'
import { decodeCursor, encodeCursor, fittingTexts, invalidCursor } from '../http/list-page.ts'
import { arrayTexts } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { idOfSlug, namespaceOfAdmin } from '../namespace/queries.ts'
import { type EntryRow, type Filter, type LastKeys, listEntries, type Scope } from './entry-queries.ts'
import { firstRevision, traceWithTimeline } from './locate.ts'
import { type Names, namesOf } from './names.ts'
import { listOfHistory } from './open-past.ts'
import { sentenceOf, usersIn } from './sentences.ts'
import type { HistoryServices } from './services.ts'
import type { Place } from '../trace/events.ts'
import type { TraceName } from '../trace/locate.ts'

type Data = {
  readonly patch?: unknown
  readonly externalId?: string
  readonly messageCount?: number
  readonly createdAt?: number
  readonly erased?: number
  readonly movedFrom?: Place
  readonly movedTo?: Place
}

const OF_DELETION = 'TraceDeleted'

const traceOf = ({ stream_id, external_id, type }: EntryRow, data: Data) => {
  const externalId = type === OF_DELETION ? data.externalId : external_id
  return JSON.stringify({ id: stream_id, externalId })
}

const asText = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value))

/** An Entry as JSON text; in the timeline of a namespace with its trace. */
const entryText = (row: EntryRow, names: Names, namesTrace: boolean): JsonText<Entry> => {
  const data = JSON.parse(row.data ?? '{}') as Data
  const { type, actor, added, updated } = row
  const isDeletion = type === OF_DELETION
  const input = {
    type,
    actor: actor ?? undefined,
    data,
    nameOf: names.nameOf,
    added: added ?? 0,
    updated: updated ?? 0,
  }
  return jsonText({
    revision: String(row.revision),
    type: `"${type satisfies EntryType}"`,
    at: String(row.at),
    actor: actor === null ? undefined : JSON.stringify({ userId: actor, displayName: names.displayName(actor) }),
    text: JSON.stringify(sentenceOf(input)),
    trace: namesTrace && row.stream_id !== row.namespace_id ? traceOf(row, data) : undefined,
    messages: added === null ? undefined : JSON.stringify({ added, updated }),
    patch: asText(data.patch),
    requestId: row.request_id === null ? undefined : JSON.stringify(row.request_id),
    messageCount: isDeletion ? asText(data.messageCount) : undefined,
    createdAt: isDeletion ? asText(data.createdAt) : undefined,
    erased: type === 'HistoryErased' ? asText(data.erased) : undefined,
    movedFrom: asText(data.movedFrom?.slug),
    movedTo: asText(data.movedTo?.slug),
  })
}

const DEFAULT_LIMIT = 100

/** The queries of both timelines. */
type Query = {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly order?: 'asc' | 'desc' | undefined
  readonly type?: readonly EntryType[] | undefined
  readonly actor?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

const MAX_KEY = 2n ** 63n
const Position = z.string().regex(/^\d{1,19}$/)
const Cursor = z.tuple([z.enum(['trace', 'namespace']), Position, z.int32(), Position.nullable()])

/** @throws 400 for an invalid cursor */
const keysOf = (cursor: string | undefined, of: Scope['of']): LastKeys | undefined => {
  if (cursor === undefined) return undefined
  const decoded = decodeCursor(cursor, Cursor)
  const end = typeof decoded?.[3] === 'string' ? BigInt(decoded[3]) : undefined
  if (decoded?.[0] !== of || BigInt(decoded[1]) >= MAX_KEY || (end ?? 0n) >= MAX_KEY) throw invalidCursor()
  return [BigInt(decoded[1]), decoded[2], end]
}

const cursorAfter = (of: Scope['of'], { revision, position, place, span_end: end }: EntryRow) =>
  of === 'trace'
    ? encodeCursor(of, String(revision), 0, null)
    : encodeCursor(of, String(position), place, end === null ? null : String(end))

const filterOf = (query: Query, first: 'asc' | 'desc', of: Scope['of']): Filter => ({
  order: query.order ?? first,
  types: query.type,
  actor: query.actor?.toWellFormed().replaceAll('\0', '\ufffd'), // no user has such an id, and PostgreSQL refuses it
  from: query.from,
  to: query.to,
  after: keysOf(query.cursor, of),
  limit: query.limit ?? DEFAULT_LIMIT,
})

/** A page of entries. `check` is called after reading, because the rows of a trace that is deleted meanwhile may be incomplete. */
const listOf = async (
  { reads, timeline }: HistoryServices,
  scope: Scope,
  filter: Filter,
  check: () => Promise<unknown>,
): Promise<JsonTexts<EntryList>> => {
  if (filter.limit === 0) return jsonTexts({ events: '[]', nextCursor: undefined })
  const rows = await listEntries(timeline, scope, filter)
  await check()
  const users = rows.flatMap(({ actor, data }) =>
    usersIn({ actor: actor ?? undefined, data: data === null ? undefined : JSON.parse(data) }),
  )
  const names = await namesOf(reads, users)
  const texts = rows.map((row) => entryText(row, names, scope.of === 'namespace'))
  const count = fittingTexts(texts, filter.limit)
  return jsonTexts({
    events: arrayTexts(texts.slice(0, count)),
    nextCursor: rows.length > count ? `"${cursorAfter(scope.of, rows[count - 1]!)}"` : undefined,
  })
}

/** A page of the timeline of a namespace, newest entries first unless `order` says otherwise, for its admins. @throws 400, 403, 404 */
export const timelineOfNamespace = async (
  services: HistoryServices,
  caller: Caller,
  slug: string,
  query: Query & { readonly trace?: string | undefined },
): Promise<JsonTexts<EntryList>> => {
  const { reads, timeline } = services
  const filter = filterOf(query, 'desc', 'namespace')
  const assertAdmin = () => namespaceOfAdmin(reads, idOfSlug(slug), caller)
  const { id } = await assertAdmin()
  timeline.assertNotQuarantined(`namespace-${id}`)
  await timeline.caughtUp(0n)
  const traceIdOf = query.trace === undefined ? undefined : traceId(id, query.trace)
  // A caller who is no longer an admin must not see newer entries.
  return listOf(services, { of: 'namespace', id, traceId: traceIdOf }, filter, assertAdmin)
}

/** A page of the timeline of a trace, oldest entries first unless `order` says otherwise, for members of its namespace. @throws 400, 401, 403, 404 */
export const timelineOfTrace = async (
  services: HistoryServices,
  caller: Caller | undefined,
  name: TraceName,
  query: Query,
): Promise<JsonTexts<EntryList>> => {
  const filter = filterOf(query, 'asc', 'trace')
  const trace = await traceWithTimeline(services, name, caller)
  const { id, revision } = trace
  const { check } = listOfHistory(services, trace, caller)
  return listOf(services, { of: 'trace', id, first: firstRevision(trace), revision }, filter, check)
}

/** The timelines of traces and namespaces. */
export const timelineRoutes = (app: FastifyInstance, services: HistoryServices): void => {
  route(app, history, 'GET /v1/traces/{externalId}/events', ({ params, query, caller }) =>
    timelineOfTrace(services, caller, { externalId: params.externalId, namespace: query.namespace }, query),
  )

  route(app, history, 'GET /v1/namespaces/{slug}/events', (request) =>
    timelineOfNamespace(services, requireCaller(request), request.params.slug, request.query),
  )
}
