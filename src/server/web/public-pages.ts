import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type TopicCache, newTopicCache } from '../../eventstore/engine/topic-cache.ts'
import { textBytes } from '../../eventstore/engine/sized-cache.ts'

const compress = promisify(gzip)

type PublicPage = {
  /** The page, compressed with gzip; undefined if it is too long, and has to be sent piece by piece. */
  readonly body: Buffer | undefined
  /** A time in milliseconds, after which the page must not be sent. */
  readonly until: number
}

/**
 * Pages of public traces for viewers without a session or settings, compressed, by their addresses. They are sent without a query of the
 * database: an event that changes what a page shows, or who may read it, removes the page before its write is answered. One change is not
 * noticed: that another trace has become a sub-agent of this one. So a page is sent for `LASTS_MS` only. Pages are the same for all viewers and
 * repeat nothing of a request, so that the length of a compressed page tells nothing about its reader.
 */
export type PublicPages = TopicCache<PublicPage>

const MOST_KEPT_BYTES = 16 * 1024 * 1024
/** About what an entry takes besides its body, in bytes. */
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

/** Compresses a page. @param now the time in milliseconds */
export const compressed = async (pieces: readonly string[], now: number): Promise<PublicPage> => {
  const bytes = textBytes(pieces) > MOST_BYTES ? undefined : await compress(pieces.join(''))
  return { body: bytes && bytes.length > MOST_SENT_BYTES ? undefined : bytes, until: now + LASTS_MS }
}
