import type { FastifyReply } from 'fastify'
import { tracesIn } from '../effects.ts'
import { textBytes } from '../../eventstore/engine/sized-cache.ts'
import type { Draft } from '../export/public-files.ts'
import type { LongLists } from '../http/long-lists.ts'
import { whenOver } from '../http/when-over.ts'
import { documentHeaders } from '../pages/headers.ts'
import { CHUNK_SIZE } from '../trace/messages/chunks.ts'
import { type PublicPages, compressed } from './public-pages.ts'
import type { PageRow, TraceContent } from './trace-content.ts'
import type { ShownTrace } from './trace-shown.ts'

export const fragmentHeaders = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }
const headers = { ...documentHeaders, ...fragmentHeaders }
const compressedHeaders = { ...headers, 'content-encoding': 'gzip' }

export const sendCompressed = (reply: FastifyReply, page: Buffer): FastifyReply =>
  reply.headers(compressedHeaders).send(page)

/** How a page is sent that is the same for all viewers, and so is cached. */
type ForAll = {
  /** Begins the page in the cache, for the trace as it was at this position of the log; undefined if it cannot be cached. */
  readonly draftOf: (position: bigint) => Draft | undefined
  readonly isCompressed: boolean
}

/** Makes a page, and sends it at the same time. */
export const sendMade = (
  longLists: LongLists,
  reply: FastifyReply,
  { trace, reader, check }: ShownTrace,
  content: TraceContent,
  forAll?: ForAll,
): Promise<FastifyReply> => {
  let draft: Draft | undefined
  let position: bigint | undefined // of the log at the first check of the reader's right, before the content is read
  const kept = (text: string) => {
    draft?.add(text)
    return text
  }
  async function* keptAll(texts: AsyncIterable<string>) {
    for await (const text of texts) yield kept(text)
  }
  const isCompressed = forAll?.isCompressed === true
  return longLists.send<PageRow>(reply, {
    reader,
    chunks: content.chunks,
    isCompressed,
    check: async () => {
      const checked = await check()
      position ??= checked
      return checked
    },
    chunkSize: Math.min(Number(trace.bytes), CHUNK_SIZE),
    before: () => {
      const text = content.before()
      if (content.revision() === trace.revision) draft = forAll?.draftOf(position!)
      if (draft) whenOver(reply.raw, draft.drop)
      return kept(text)
    },
    toText: (row) => keptAll(content.toText(row)),
    async *after() {
      yield* keptAll(content.after())
      draft?.keep()
    },
    headers: () => (isCompressed ? compressedHeaders : headers),
  })
}

/** A request for a public page: its address, and the position of the log before the page was read. */
type PublicPageRequest = { readonly key: string; readonly position: bigint }

type KeptServices = { readonly longLists: LongLists; readonly publicPages: PublicPages; readonly now: () => number }

/** Sends a page whose texts are in the cache. With `asked` it is sent compressed, and kept so for the next request of its address. */
export const sendKept = async (
  { longLists, publicPages, now }: KeptServices,
  reply: FastifyReply,
  { trace, relations, reader, check }: ShownTrace,
  pieces: readonly string[],
  asked: PublicPageRequest | undefined,
): Promise<FastifyReply> => {
  const topics = new Set([trace.id, trace.namespace_id, trace.created_by, tracesIn(trace.namespace_id)])
  for (const { id } of relations.linked) topics.add(id)
  const read = async () => ({ value: await compressed(pieces, now()), topics, position: asked!.position })
  const page = asked && (await publicPages.load(asked.key, read))
  if (page?.body) {
    await check()
    return sendCompressed(reply, page.body)
  }
  const size = textBytes(pieces)
  return longLists.send(reply, {
    reader,
    check,
    chunkSize: size,
    before: '',
    after: () => '',
    async *chunks() {
      yield { rows: pieces, size }
    },
    toText: (piece: string) => [piece],
    headers: () => headers,
  })
}
