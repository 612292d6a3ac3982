import { hash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { okText } from './reply.ts'

/** Whether a header `If-None-Match` has this ETag. */
export const matchesEtag = (header: string | undefined, etag: string): boolean =>
  header !== undefined && header.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))

/**
 * Answers 200 with data that is JSON text and its ETag, or 304 if the client has this text. To be called after the caller's right to
 * read the data was checked. Caches have to ask each time, because the caller may lose the right.
 */
export const okUnlessKnown = (reply: FastifyReply, data: string): FastifyReply => {
  const { caller, headers } = reply.request
  const etag = `"${hash('sha256', data, 'base64url')}"`
  reply.headers({ etag, 'cache-control': caller ? 'private, no-cache' : 'no-cache' })
  return matchesEtag(headers['if-none-match'], etag) ? reply.code(304).send() : okText(reply, data)
}
