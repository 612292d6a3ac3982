import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { PublicFiles, FileVersion } from '../export/public-files.ts'
import { takesEncoding } from '../http/assets.ts'
import type { LongLists } from '../http/long-lists.ts'
import { addressFor } from '../http/origin.ts'
import { addVary } from '../http/reply.ts'
import { tracePath } from '../pages/links.ts'
import type { TracePage } from '../pages/trace.ts'
import { viewerOf } from '../pages/viewer.ts'
import type { PublicPages } from './public-pages.ts'
import type { RowMaking } from './row-making.ts'
import { PageQuery, isLive, tracePageOf } from './trace-page.ts'
import { TraceParams } from './trace-params.ts'
import { sendCompressed, sendKept, sendMade } from './trace-sending.ts'
import { type ShownServices, showTrace } from './trace-shown.ts'

export type TracePageServices = ShownServices & {
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
      const { content, viewer, url } = await tracePageOf(services, request, shown, query)
      const isForAll =
        visibility === 'public' &&
        isPlain(viewer, tracePath(shown.slug, shown.trace.external_id)) &&
        !isLive(shown, now())
      if (!isForAll) return sendMade(longLists, reply, shown, content)
      addVary(reply, 'accept-encoding')
      const trace = [url, JSON.stringify(shown.head), ...shown.children.texts].join('\n')
      const kept: FileVersion = { traceId, incarnation, revision, trace, format: 'page' }
      const pieces = publicFiles.get(kept)
      if (pieces) return sendKept(services, reply, shown, pieces, asked)
      const draftOf = (position: bigint) => publicFiles.begin(kept, position)
      return sendMade(longLists, reply, shown, content, { draftOf, isCompressed: asked !== undefined })
    },
  )
}
