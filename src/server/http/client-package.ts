import { hash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { clientFileName } from '../../base/client-line.ts'
import { ExplainedUnavailable } from '../../eventstore/engine/rejected.ts'
import { readClientPackage } from '../pages/client-package.ts'
import { notFound } from './http-error.ts'
import { matchesEtag } from './reply.ts'

/** The names of the client's package: without a version, and of other versions, which commands that were written down have. */
const NAME = /^tracebook(?:-\d[\w.+-]*)?\.tgz$/

/**
 * `GET /client/tracebook-{version}.tgz`: the client as an npm package of this version, which is made at the first request. Its other names lead to
 * it.
 */
export const installClientPackage = (app: FastifyInstance): void => {
  let made: Promise<{ readonly content: Buffer; readonly etag: string }> | undefined
  const make = async () => {
    const content = await readClientPackage()
    return { content, etag: `"${hash('sha256', content, 'base64url')}"` }
  }
  const ofThisVersion = () =>
    (made ??= make()).catch((err: unknown) => {
      made = undefined
      app.log.warn({ err }, 'the package of the client cannot be made')
      throw new ExplainedUnavailable('the package of the client cannot be made here: use a clone of Tracebook')
    })

  app.get<{ Params: { name: string } }>('/client/:name', { config: { auth: 'none' } }, async (request, reply) => {
    const { name } = request.params
    if (!NAME.test(name)) throw notFound()
    if (name !== clientFileName)
      return reply.header('cache-control', 'no-store').redirect(`/client/${clientFileName}`, 302)
    const { content, etag } = await ofThisVersion()
    reply.headers({ etag, 'cache-control': 'public, max-age=31536000, immutable' })
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return reply.type('application/octet-stream').send(content)
  })
}
