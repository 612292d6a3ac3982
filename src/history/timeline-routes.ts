import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { requireCaller } from '../http/caller.ts'
import { EXAMPLE_ID, nextCursor } from '../contract/fields.ts'
import { invalid } from '../http/http-error.ts'
import { Key, LimitText, limitOf } from '../contract/parameters.ts'
import { decodeCursor, encodeCursor } from '../http/cursor.ts'
import { fittingTexts } from '../http/page-bytes.ts'
import { answers, arrayTexts, okTexts } from '../http/reply.ts'
import { aTime, timeOf } from '../http/times.ts'
import { traceId } from '../ids.ts'
import { InNamespace } from '../trace/moment.ts'
import { idOfSlug, namespaceOfAdmin } from '../namespace/queries.ts'
import { type Behind, type EntryRow, type Filter, type Scope, listEntries } from './entry-queries.ts'
import { type EntryType, entryTypes } from './entry-types.ts'
import { traceWithTimeline } from './locate.ts'
import { namesOf } from './names.ts'
import { listOfHistory } from './open-past.ts'
import { usersIn } from './sentences.ts'
import type { HistoryServices } from './services.ts'
import { Entry, entryText } from './views.ts'

const DEFAULT_LIMIT = 100

const isType = (text: string): text is EntryType => entryTypes.includes(text as EntryType)

const Types = z
  .string()
  .refine((text) => text.split(',').every(isType), { error: 'must be types of entries, separated by commas' })
  .meta({
    description: `Only entries of these types, separated by commas: ${entryTypes.map((type) => `\`${type}\``).join(', ')}`,
    examples: ['TraceUpdated,TraceDeleted'],
  })

const filters = {
  limit: LimitText.meta({
    description: 'At most this many entries; above 1000 counts as 1000. Default: 100',
  }).optional(),
  cursor: z.string().optional(),
  order: z.enum(['asc', 'desc']),
  type: Types.optional(),
  actor: z
    .string()
    .meta({ description: 'Only what the user with this id did', examples: [EXAMPLE_ID] })
    .optional(),
  from: aTime('Only what happened at this time or later').optional(),
  to: aTime('Only what happened before this time').optional(),
}

const orderOf = (first: 'asc' | 'desc') =>
  filters.order
    .meta({ description: `\`asc\`: oldest first; \`desc\`: newest first. Default: \`${first}\``, examples: ['desc'] })
    .optional()

const TraceQuery = z.object({ ...filters, order: orderOf('asc'), namespace: InNamespace })
const NamespaceQuery = z.object({
  ...filters,
  order: orderOf('desc'),
  trace: z
    .string()
    .meta({ description: 'Only entries of the trace with this externalId', examples: ['my-first-session'] })
    .optional(),
})
type Query = z.infer<typeof TraceQuery> | z.infer<typeof NamespaceQuery>

const List = z.object({
  events: z.array(Entry).meta({ description: 'The entries of this page' }),
  nextCursor,
})

const MAX_KEY = 2n ** 63n
const Position = z.string().regex(/^\d{1,19}$/)
const Cursor = z.tuple([z.enum(['trace', 'namespace']), Position, z.int32(), Position.nullable()])

/** @throws 400 for a cursor that is none of such a list */
const behindOf = (cursor: string | undefined, of: Scope['of']): Behind | undefined => {
  if (cursor === undefined) return undefined
  const keys = decodeCursor(cursor, Cursor)
  const end = typeof keys?.[3] === 'string' ? BigInt(keys[3]) : undefined
  if (keys?.[0] !== of || BigInt(keys[1]) >= MAX_KEY || (end ?? 0n) >= MAX_KEY)
    throw invalid('cursor', 'is not a cursor of this list')
  return [BigInt(keys[1]), keys[2], end]
}

const cursorBehind = (of: Scope['of'], { revision, position, place, span_end: end }: EntryRow) =>
  of === 'trace'
    ? encodeCursor(of, String(revision), 0, null)
    : encodeCursor(of, String(position), place, end === null ? null : String(end))

const filterOf = (query: Query, first: 'asc' | 'desc', of: Scope['of']): Filter => ({
  order: query.order ?? first,
  types: query.type?.split(',') as EntryType[] | undefined,
  actor: query.actor?.toWellFormed().replaceAll('\0', '\ufffd'), // no user has such an id, and no column can hold it
  from: timeOf(query.from),
  to: timeOf(query.to),
  behind: behindOf(query.cursor, of),
  limit: limitOf(query.limit) ?? DEFAULT_LIMIT,
})

const errors =
  '`invalid_request` (400) for a `limit`, `cursor`, `order`, `type` or time that is none; `unauthorized` (401); `forbidden` (403) ' +
  'for others; `not_found` (404); `unavailable` (503) while the timeline is behind.'

/** The timelines of traces and namespaces. */
export const timelineRoutes = (app: FastifyInstance, services: HistoryServices): void => {
  const { reads, timeline } = services

  /** `check` is called once the entries are read: those of a trace that is deleted meanwhile may have been half swept. */
  const list = async (reply: FastifyReply, scope: Scope, filter: Filter, check: () => Promise<void>) => {
    if (filter.limit === 0) return okTexts(reply, ['{"events":[]}'])
    const rows = await listEntries(timeline, scope, filter)
    await check()
    const users = rows.flatMap(({ actor, data }) =>
      usersIn({ actor: actor ?? undefined, data: data === null ? undefined : JSON.parse(data) }),
    )
    const names = await namesOf(reads, users)
    const texts = rows.map((row) => entryText(row, names, scope.of === 'namespace'))
    const count = fittingTexts(texts, filter.limit)
    const next = rows.length > count ? `,"nextCursor":"${cursorBehind(scope.of, rows[count - 1]!)}"` : ''
    return okTexts(reply, ['{"events":', ...arrayTexts(texts.slice(0, count)), `${next}}`])
  }

  app.get<{ Params: { externalId: string }; Querystring: z.infer<typeof TraceQuery> }>(
    '/v1/traces/:externalId/events',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'Read the timeline of a trace',
        description:
          'Who did what to it and when, for members of its namespace, also where the trace is public. An entry is an event, but the ' +
          'messages of one request are one entry. A trace that was deleted and created again begins a new timeline. Errors: ' +
          errors,
        tags: ['history'],
        params: z.object({ externalId: Key }),
        querystring: TraceQuery,
        response: answers(List, 401, 403, 404),
      },
    },
    async ({ params, query, caller }, reply) => {
      const filter = filterOf(query, 'asc', 'trace')
      const { externalId } = params
      const trace = await traceWithTimeline(services, { externalId, namespace: query.namespace }, caller)
      const { id, incarnation, revision } = trace
      const { check } = listOfHistory(services, trace, caller)
      return list(reply, { of: 'trace', id, incarnation, revision }, filter, async () => void (await check()))
    },
  )

  app.get<{ Params: { slug: string }; Querystring: z.infer<typeof NamespaceQuery> }>(
    '/v1/namespaces/:slug/events',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Read the timeline of a namespace',
        description:
          'For its admins: its own events, and those of its traces. Of deleted traces only the deletions are left. Invites are shown ' +
          'by the first four characters of their codes. Errors: ' +
          errors,
        tags: ['history'],
        params: z.object({ slug: Key }),
        querystring: NamespaceQuery,
        response: answers(List, 403, 404),
      },
    },
    async (request, reply) => {
      const { params, query } = request
      const filter = filterOf(query, 'desc', 'namespace')
      const assertAdmin = () => namespaceOfAdmin(reads, idOfSlug(params.slug), requireCaller(request))
      const { id } = await assertAdmin()
      timeline.assertNotQuarantined(`namespace-${id}`)
      await timeline.caughtUp(0n)
      const traceIdOf = query.trace === undefined ? undefined : traceId(id, query.trace)
      // Who has ceased to be an admin meanwhile must not see what came after.
      return list(reply, { of: 'namespace', id, traceId: traceIdOf }, filter, async () => void (await assertAdmin()))
    },
  )
}
