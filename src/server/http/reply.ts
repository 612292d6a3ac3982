import { hash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Answers 200 with `{ ok: true, data }`. */
export const ok = (reply: FastifyReply, data: object): FastifyReply => okText(reply, JSON.stringify(data))

/** Answers 200 with data that is JSON text. */
export const okText = (reply: FastifyReply, data: string): FastifyReply =>
  reply.type(JSON_TYPE).send(`{"ok":true,"data":${data}}`)

/** Answers 200 with data whose JSON text is in parts and may be large. */
export const okTexts = (reply: FastifyReply, data: readonly string[]): Promise<FastifyReply> =>
  reply.type(JSON_TYPE).sendTexts(['{"ok":true,"data":', ...data, '}'])

/** Adds request headers that the answer depends on to `Vary`. */
export const addVary = (reply: FastifyReply, names: string): void => {
  const known = reply.getHeader('vary')
  reply.header('vary', known === undefined ? names : `${String(known)}, ${names}`)
}

/** JSON text of an array whose items are JSON text. */
export const jsonArray = (items: readonly string[]): string => `[${items.join(',')}]`

/** JSON text of an array in parts, for `okTexts`. */
export const arrayTexts = (items: readonly string[]): string[] => [
  '[',
  ...items.flatMap((item, i) => (i === 0 ? [item] : [',', item])),
  ']',
]

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
