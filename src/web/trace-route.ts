import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Key } from '../contract/parameters.ts'
import { tracesIn } from '../effects.ts'
import { textBytes } from '../engine/sized-cache.ts'
import type { Draft, PublicFiles, Shown } from '../export/public-files.ts'
import { takesEncoding } from '../http/assets.ts'
import type { LongLists } from '../http/long-lists.ts'
import { clientOf } from '../http/node-permits.ts'
import { addVary } from '../http/reply.ts'
import { documentHeaders } from '../pages/headers.ts'
import { tracePath } from '../pages/links.ts'
import { PAGE_ROWS, type TracePage } from '../pages/trace.ts'
import { viewerOf } from '../pages/viewer.ts'
import { beginningOf } from '../trace/messages/beginnings.ts'
import { CHUNK_SIZE } from '../trace/messages/chunks.ts'
import { placeOf } from '../trace/messages/places.ts'
import { views } from '../transcript/html/links.ts'
import { shortened } from '../transcript/preview.ts'
import { type PublicPages, compressed } from './public-pages.ts'
import type { RowMaking } from './row-making.ts'
import { type PageRow, newTraceContent } from './trace-content.ts'
import { type ShownServices, type ShownTrace, changedFiles, showTrace } from './trace-shown.ts'
import { TraceParams } from './trace-params.ts'

const Query = z.object({
  m: Key.optional(),
  from: z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .optional(),
  view: z.enum(views).optional(),
})
type Asked = z.infer<typeof Query>

/** The most messages of a session that is shown on one page. */
const MOST_ROWS = 1_000
/** The number of messages before the one that a link leads to. */
const ROWS_BEFORE = PAGE_ROWS / 2
/** How long after its last message a session counts as running. */
const LIVE_MS = 2 * 60_000

export type TracePageServices = ShownServices & {
  readonly longLists: LongLists
  readonly publicFiles: PublicFiles
  readonly publicPages: PublicPages
  readonly rowMaking: RowMaking
  readonly now: () => number
  readonly config: { readonly PUBLIC_URL?: string | undefined }
}

export const fragmentHeaders = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }
const headers = { ...documentHeaders, ...fragmentHeaders }
const compressedHeaders = { ...headers, 'content-encoding': 'gzip' }

const isLive = ({ trace }: ShownTrace, now: number): boolean =>
  Math.min(trace.ended_at ?? -Infinity, Number(trace.updated_at)) > now - LIVE_MS

/** The messages on a page: all of them, or those around the one that was asked for. */
const partOf = (count: number, place: number | undefined, from = 0): TracePage['part'] => {
  if (count <= MOST_ROWS) return undefined
  const start = place === undefined ? Math.min(from, count - 1) : Math.max(0, place - ROWS_BEFORE)
  return { from: start, to: Math.min(count, start + PAGE_ROWS) }
}

/**
 * Whether a page is the one that all viewers without a session and without settings get, and so can be cached: it is at the address of the
 * session itself, which the page repeats.
 */
const isPlain = ({ user, theme, hasKeys, path }: TracePage['viewer'], address: string) =>
  user === undefined && theme === undefined && hasKeys && path === address

/** The description in previews: the beginning of the summary, else of the first prompt. */
const descriptionOf = ({ fields }: ShownTrace, firstPrompt: string): string => {
  const summary = fields.get('ai_summary')
  return typeof summary === 'string' && summary.trim() !== '' ? shortened(summary) : firstPrompt
}

/** A position of the log up to which all later queries show the changes. */
const positionNow = async (reads: ShownServices['reads']): Promise<bigint> => {
  const [reached] = await reads.rows<{ position: bigint }>('position', 'select position from reached')
  return reached!.position
}

/** `GET /@{slug}/{externalId}`: a session as a page. */
export const tracePageRoute = (app: FastifyInstance, services: TracePageServices): void => {
  const { reads, longLists, publicFiles, publicPages, now, config } = services

  const originOf = (request: FastifyRequest) =>
    config.PUBLIC_URL?.replace(/\/$/, '') ?? `${request.protocol}://${request.host}`

  /** The message that a link leads to: its place, and what a preview says of it. */
  const linkedOf = async ({ trace }: ShownTrace, m: string | undefined) => {
    const place = m === undefined ? undefined : await placeOf(reads, trace, m)
    if (place === undefined || trace.visibility !== 'public') return { place, text: undefined }
    return { place, text: shortened(await beginningOf(reads, trace, m!)) || undefined }
  }

  const contentOf = async (request: FastifyRequest, shown: ShownTrace, { m, from, view = 'full' }: Asked) => {
    const { slug, fields, head, trace, children } = shown
    const externalId = trace.external_id
    const { place, text } = await linkedOf(shown, m)
    const count = Number(trace.message_count ?? 0n)
    const part = partOf(count, place, from)
    const viewer = viewerOf(request)
    const url = `${originOf(request)}${tracePath(slug, externalId, place === undefined ? undefined : m)}`
    const project = fields.get('projectName')
    const content = newTraceContent(services, {
      ...{ shown, part },
      ...{ view, here: place === undefined ? undefined : m, client: clientOf(request) },
      pageOf: ({ revision, firstPrompt }) => ({
        ...{ slug, externalId, head, revision, count, view, part, viewer },
        project: typeof project === 'string' ? project : undefined,
        visibility: trace.visibility,
        mayWrite: shown.mayWrite,
        linked: m === undefined ? undefined : (place ?? 'lost'),
        isLive: isLive(shown, now()),
        children: children.all,
        changed: changedFiles(fields),
        preview:
          trace.visibility === 'public'
            ? {
                url,
                description: text ?? descriptionOf(shown, firstPrompt),
                oembed: `/oembed?url=${encodeURIComponent(url)}`,
              }
            : undefined,
      }),
    })
    return { content, viewer, url }
  }

  type Content = Awaited<ReturnType<typeof contentOf>>['content']

  /** Makes a page, and sends it at the same time. For everybody `draftOf` begins it in the cache, and it may be compressed. */
  const send = (
    reply: FastifyReply,
    shown: ShownTrace,
    content: Content,
    draftOf: (position: bigint) => Draft | undefined = () => undefined,
    isCompressed = false,
  ) => {
    const { trace, reader, check } = shown
    let draft: Draft | undefined
    let position: bigint | undefined // of the first check, which comes before the content is read
    const kept = (text: string) => {
      draft?.add(text)
      return text
    }
    async function* keptAll(texts: AsyncIterable<string>) {
      for await (const text of texts) yield kept(text)
    }
    reply.raw.once('close', () => {
      draft?.drop()
      content.close()
    })
    return longLists.send<PageRow>(reply, {
      reader,
      check: async () => {
        const checked = await check()
        position ??= checked
        return checked
      },
      chunkSize: Math.min(Number(trace.bytes), CHUNK_SIZE),
      chunks: content.chunks,
      before: () => {
        const text = content.before()
        if (content.revision() === trace.revision) draft = draftOf(position!)
        return kept(text)
      },
      toText: (row) => keptAll(content.toText(row)),
      async *after() {
        yield* keptAll(content.after())
        draft?.keep()
      },
      isCompressed,
      headers: () => (isCompressed ? compressedHeaders : headers),
    })
  }

  const sendCompressed = (reply: FastifyReply, page: Buffer) => reply.headers(compressedHeaders).send(page)

  /** Sends a cached page; compressed at once, if it is asked for by an address, and was there since a position of the log. */
  const sendKept = async (
    reply: FastifyReply,
    { trace, children, reader, check }: ShownTrace,
    pieces: readonly string[],
    asked: { readonly key: string; readonly position: bigint } | undefined,
  ) => {
    const topics = new Set([trace.id, trace.namespace_id, trace.created_by, tracesIn(trace.namespace_id)])
    for (const { id } of children.linked) topics.add(id)
    const read = async () => ({ value: await compressed(pieces, now()), topics, position: asked!.position })
    const page = asked && (await publicPages.load(asked.key, read))
    if (page?.body) {
      await check()
      return sendCompressed(reply, page.body)
    }
    const size = textBytes(pieces)
    return longLists.send(reply, {
      ...{ reader, check, chunkSize: size, before: '', after: () => '' },
      async *chunks() {
        yield { rows: pieces, size }
      },
      toText: (piece: string) => [piece],
      headers: () => headers,
    })
  }

  /** The address of a page that anybody may be shown, to a browser that takes it compressed. */
  const keyOf = (request: FastifyRequest, { slug, externalId }: TraceParams): string | undefined => {
    const viewer = viewerOf(request)
    const isWanted = isPlain(viewer, tracePath(slug, externalId))
    return isWanted && takesEncoding(request.headers['accept-encoding'], 'gzip')
      ? originOf(request) + viewer.path
      : undefined
  }

  app.get<{ Params: TraceParams; Querystring: Asked }>(
    '/@:slug/:externalId',
    { config: { auth: 'optional', htmlPage: true }, schema: { params: TraceParams, querystring: Query } },
    async (request, reply) => {
      const { caller, params, query } = request
      const key = keyOf(request, params)
      const ready = key === undefined ? undefined : publicPages.get(key)
      if (ready?.body && ready.until > now()) {
        addVary(reply, 'accept-encoding')
        return sendCompressed(reply, ready.body)
      }
      const asked = key === undefined ? undefined : { key, position: await positionNow(reads) }
      const shown = await showTrace(services, params, caller)
      const { id: traceId, incarnation, revision, visibility } = shown.trace
      const { content, viewer, url } = await contentOf(request, shown, query)
      const isForAll =
        visibility === 'public' &&
        isPlain(viewer, tracePath(shown.slug, shown.trace.external_id)) &&
        !isLive(shown, now())
      if (!isForAll) return send(reply, shown, content)
      addVary(reply, 'accept-encoding')
      const trace = [url, JSON.stringify(shown.head), ...shown.children.texts].join('\n')
      const kept: Shown = { traceId, incarnation, revision, trace, format: 'page' }
      const pieces = publicFiles.get(kept)
      if (pieces) return sendKept(reply, shown, pieces, asked)
      return send(reply, shown, content, (position) => publicFiles.begin(kept, position), asked !== undefined)
    },
  )
}
