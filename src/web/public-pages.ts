import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type TopicCache, newTopicCache } from '../engine/topic-cache.ts'
import { textBytes } from '../engine/sized-cache.ts'

const compress = promisify(gzip)

/** A page compressed with gzip, without a body if it is too long and has to be sent piece by piece; valid until a time in milliseconds. */
export type PublicPage = { readonly body: Buffer | undefined; readonly until: number }

/**
 * Pages of public traces for viewers without a session or settings, compressed, by their addresses. They are sent without a query: an event
 * that changes something that a page shows, or who may read it, removes it before the write is answered. Only that another trace has become
 * one of its sub-agents is not known, so a page is not sent for long. Pages are the same for everybody and repeat nothing of a request, so
 * that their length tells nothing.
 */
export type PublicPages = TopicCache<PublicPage>

const MOST_KEPT_BYTES = 16 * 1024 * 1024
const SIZE_OF_ENTRY = 1_000
const REMEMBERED_CHANGES = 1_000
const LASTS_MS = 10_000

/** A page with more bytes is not cached, but sent piece by piece. */
const MOST_BYTES = 2 * 1024 * 1024
/** The most compressed bytes of a cached page, which fit into the buffers of a socket. */
const MOST_SENT_BYTES = 256 * 1024

export const newPublicPages = (isCurrent: () => boolean): PublicPages =>
  newTopicCache({
    sizeOf: ({ body }: PublicPage) => SIZE_OF_ENTRY + (body?.length ?? 0),
    maxSize: MOST_KEPT_BYTES,
    isCurrent,
    remembered: REMEMBERED_CHANGES,
  })

export const compressed = async (pieces: readonly string[], now: number): Promise<PublicPage> => {
  const bytes = textBytes(pieces) > MOST_BYTES ? undefined : await compress(pieces.join(''))
  return { body: bytes && bytes.length > MOST_SENT_BYTES ? undefined : bytes, until: now + LASTS_MS }
}
