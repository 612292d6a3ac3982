import type { FastifyInstance } from 'fastify'
import { type Asset, assetOf, encodings, prepareScripts } from '../pages/assets.ts'
import { wantsPage } from '../pages/page.ts'
import { notFound } from './http-error.ts'
import { addVary } from './reply.ts'

/** Whether a client takes an encoding, by its `Accept-Encoding`. */
export const takesEncoding = (accepted: string | undefined, encoding: (typeof encodings)[number]): boolean => {
  const taken = accepted?.split(',').filter((one) => !/;\s*q=0(?:\.0*)?\s*$/.test(one)) ?? []
  return taken.some((one) => one.split(';')[0]!.trim() === encoding)
}

/** The smallest of the encodings that a client takes. */
const encodingFor = (accepted: string | undefined) => encodings.find((encoding) => takesEncoding(accepted, encoding))

const bytesOf = ({ content, compressed }: Asset, encoding: ReturnType<typeof encodingFor>) =>
  encoding === undefined ? content : compressed(encoding)

/** `GET /assets/{name}`: the files that pages load. The scripts are made at the start, before the first page is requested. */
export const installAssets = (app: FastifyInstance): void => {
  const failed = (err: unknown) =>
    app.log.warn({ err }, 'the scripts of pages cannot be made: pages are served without them')
  app.addHook('onRequest', (request, _reply, done) => {
    if (!wantsPage(request) && !request.routeOptions.config.htmlPage) return done()
    void prepareScripts(failed).then(() => done())
  })
  app.get<{ Params: { name: string } }>('/assets/:name', { config: { auth: 'none' } }, async (request, reply) => {
    const asset = assetOf(request.params.name)
    if (!asset) throw notFound()
    const encoding = encodingFor(request.headers['accept-encoding'])
    if (encoding !== undefined) reply.header('content-encoding', encoding)
    addVary(reply, 'accept-encoding')
    return reply
      .headers({
        'cache-control': 'public, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'same-origin',
        // The icon has a style sheet of its own.
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      })
      .type(asset.type)
      .send(await bytesOf(asset, encoding))
  })
}
