import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Key } from '../../contract/parameters.ts'
import type { FileVersion, PublicFiles } from '../export/public-files.ts'
import { takesEncoding } from '../http/assets.ts'
import type { LongLists } from '../http/long-lists.ts'
import { addressFor } from '../http/origin.ts'
import { addVary } from '../http/reply.ts'
import { tracePath } from '../pages/links.ts'
import { PAGE_ROWS, type Preview, type TracePage } from '../pages/trace.ts'
import { viewerOf } from '../pages/viewer.ts'
import { beginningOf } from '../trace/messages/beginnings.ts'
import { placeOf } from '../trace/messages/places.ts'
import { views } from '../../transcript/html/links.ts'
import { shortened } from '../../transcript/preview.ts'
import type { PublicPages } from './public-pages.ts'
import type { RowMaking } from './row-making.ts'
import { rowsOfAnswer } from './rows-of-answer.ts'
import { newTraceContent } from './trace-content.ts'
import { TraceParams } from './trace-params.ts'
import { sendCompressed, sendKept, sendMade } from './trace-sending.ts'
import { changedFiles, type ShownServices, type ShownTrace, showTrace } from './trace-shown.ts'

/**
 * The query string of a page: the message that a link leads to (`m`), the place from which messages are shown, and how much of each;
 * whether the session was made public just now.
 */
const PageQuery = z.object({
  m: Key.optional(),
  from: z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .optional(),
  view: z.enum(views).optional(),
  published: z.literal('').optional(),
})
type PageQuery = z.infer<typeof PageQuery>

type Services = ShownServices & {
  readonly rowMaking: RowMaking
  readonly now: () => number
  readonly config: { readonly PUBLIC_URL?: string | undefined }
}

/** A session with more messages has pages of `PAGE_ROWS` messages. */
const MOST_ROWS = 1_000
/** How many messages such a page shows before the message that a link leads to. */
const ROWS_BEFORE = PAGE_ROWS / 2
/** How long after its last message a session counts as running. */
const LIVE_MS = 2 * 60_000

const isLive = ({ trace }: ShownTrace, now: number): boolean =>
  Math.min(trace.ended_at ?? -Infinity, Number(trace.updated_at)) > now - LIVE_MS

/** The messages on a page: all of them, or those around the one that was asked for. */
const partOf = (count: number, place: number | undefined, from = 0): TracePage['part'] => {
  if (count <= MOST_ROWS) return undefined
  const start = place === undefined ? Math.min(from, count - 1) : Math.max(0, place - ROWS_BEFORE)
  return { from: start, to: Math.min(count, start + PAGE_ROWS) }
}

/** The message that a link leads to: its place, and the beginning of its text for the preview of a public trace. */
type Linked = { readonly place: number | undefined; readonly text: string | undefined }

const linkedOf = async (
  reads: ShownServices['reads'],
  { trace }: ShownTrace,
  m: string | undefined,
): Promise<Linked> => {
  const place = m === undefined ? undefined : await placeOf(reads, trace, m)
  if (place === undefined || trace.visibility !== 'public') return { place, text: undefined }
  return { place, text: shortened(await beginningOf(reads, trace, m!)) || undefined }
}

/** Who was at work, with which agent, and on which day: what programs that show a link have no other place for. */
const factsOf = ({ head: { author, lead } }: ShownTrace): string =>
  [...new Set([author, lead.agent, lead.day])].filter((one) => one !== undefined).join(' · ')

/** Whether a title says already what a text begins with. */
const isSaid = ({ head: { title } }: ShownTrace, text: string): boolean => title.startsWith(text.replace(/…$/, ''))

/**
 * What previews say of a public trace: its facts, and the beginning of the linked message, of the summary, or of the first prompt where that is not the
 * title.
 */
const previewOf = (
  shown: ShownTrace,
  { text }: Linked,
  { url, firstPrompt }: { readonly url: string; readonly firstPrompt: string },
): Preview | undefined => {
  const { trace, fields, head } = shown
  if (trace.visibility !== 'public') return undefined
  const summary = fields.get('ai_summary')
  const ofTrace = typeof summary === 'string' && summary.trim() !== '' ? shortened(summary) : firstPrompt
  const said = text ?? (isSaid(shown, ofTrace) ? '' : ofTrace)
  const description = [factsOf(shown), said].filter((one) => one !== '').join(' — ')
  return { url, description, began: head.lead.began?.iso, oembed: `/oembed?url=${encodeURIComponent(url)}` }
}

/** The page of a session that a request asks for: its content, which is made piece by piece, and its address. */
const tracePageOf = async (
  services: Services,
  reply: FastifyReply,
  shown: ShownTrace,
  { m, from, view = 'full', published }: PageQuery,
) => {
  const { request } = reply
  const { slug, fields, head, trace, relations } = shown
  const externalId = trace.external_id
  const linked = await linkedOf(services.reads, shown, m)
  const here = linked.place === undefined ? undefined : m
  const count = Number(trace.message_count ?? 0n)
  const part = partOf(count, linked.place, from)
  const viewer = viewerOf(request)
  const address = addressFor(services.config, request)
  const url = `${address}${tracePath(slug, externalId, here)}`
  const project = fields.get('projectName')
  const content = newTraceContent(services.reads, {
    shown,
    part,
    view,
    here,
    open: rowsOfAnswer(services.rowMaking, reply),
    pageOf: ({ revision, firstPrompt }) => ({
      slug,
      externalId,
      agentId: String(fields.get('agentId')),
      head,
      revision,
      count,
      view,
      part,
      viewer,
      project: typeof project === 'string' ? project : undefined,
      visibility: trace.visibility,
      mayWrite: shown.mayWrite,
      maySeeHistory: shown.reader.isMember,
      service: request.server.printedAddress(),
      address,
      isPublished: published !== undefined,
      linked: m === undefined ? undefined : (linked.place ?? 'lost'),
      isLive: isLive(shown, services.now()),
      origin: relations.origin,
      commits: shown.commits,
      changed: changedFiles(fields),
      preview: previewOf(shown, linked, { url, firstPrompt }),
    }),
  })
  return { content, viewer, url }
}

type TracePageServices = ShownServices & {
  readonly longLists: LongLists
  readonly publicFiles: PublicFiles
  readonly publicPages: PublicPages
  readonly rowMaking: RowMaking
  readonly now: () => number
  readonly config: { readonly PUBLIC_URL?: string | undefined }
}

/**
 * Whether a page is the one that all viewers without a session and without settings get, and so can be cached: it is at the address of the
 * session itself, which the page repeats.
 */
const isPlain = ({ user, theme, hasKeys, path }: TracePage['viewer'], address: string) =>
  user === undefined && theme === undefined && hasKeys && path === address

/** The position of the log up to which the read models show all events; so do all later queries. */
const positionNow = async (reads: ShownServices['reads']): Promise<bigint> => {
  const [reached] = await reads.rows<{ position: bigint }>('position', 'select position from reached')
  return reached!.position
}

/** The key of a page in the cache, which is its address; undefined unless all viewers get the same page, and the browser takes gzip. */
const keyOf = (
  config: TracePageServices['config'],
  request: FastifyRequest,
  { slug, externalId }: TraceParams,
): string | undefined => {
  const viewer = viewerOf(request)
  const isWanted = isPlain(viewer, tracePath(slug, externalId))
  return isWanted && takesEncoding(request.headers['accept-encoding'], 'gzip')
    ? addressFor(config, request) + viewer.path
    : undefined
}

/** `GET /@{slug}/{externalId}`: a session as a page. */
export const tracePageRoute = (app: FastifyInstance, services: TracePageServices): void => {
  const { reads, longLists, publicFiles, publicPages, now, config } = services
  app.get<{ Params: TraceParams; Querystring: PageQuery }>(
    '/@:slug/:externalId',
    { config: { auth: 'optional', htmlPage: true }, schema: { params: TraceParams, querystring: PageQuery } },
    async (request, reply) => {
      const { caller, params, query } = request
      const key = keyOf(config, request, params)
      const ready = key === undefined ? undefined : publicPages.get(key)
      if (ready?.body && ready.until > now()) {
        addVary(reply, 'accept-encoding')
        return sendCompressed(reply, ready.body)
      }
      const asked = key === undefined ? undefined : { key, position: await positionNow(reads) }
      const shown = await showTrace(services, params, caller)
      const { id: traceId, incarnation, revision, visibility } = shown.trace
      const { content, viewer, url } = await tracePageOf(services, reply, shown, query)
      const isForAll =
        visibility === 'public' &&
        isPlain(viewer, tracePath(shown.slug, shown.trace.external_id)) &&
        !isLive(shown, now())
      if (!isForAll) return sendMade(longLists, reply, shown, content)
      addVary(reply, 'accept-encoding')
      const trace = [url, JSON.stringify(shown.head), ...shown.relations.texts].join('\n')
      const kept: FileVersion = { traceId, incarnation, revision, trace, format: 'page' }
      const pieces = publicFiles.get(kept)
      if (pieces) return sendKept(services, reply, shown, pieces, asked)
      const draftOf = (position: bigint) => publicFiles.begin(kept, position)
      return sendMade(longLists, reply, shown, content, { draftOf, isCompressed: asked !== undefined })
    },
  )
}
