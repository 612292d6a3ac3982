import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { afterStored } from '../engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { ErrorBody } from '../http/errors.ts'
import { invalid, notFound } from '../http/http-error.ts'
import { Key } from '../contract/parameters.ts'
import { answers, ok } from '../http/reply.ts'
import { changeAvatar, presentNamespace } from './decide.ts'
import { detectImageType } from './image-type.ts'
import type { Avatar } from './avatar-store.ts'
import { avatarIdOf, idOfSlug, namespaceOfAdmin } from './queries.ts'
import { NamespaceInfo, toNamespaceView } from './views.ts'
import type { AvatarServices } from './services.ts'

const MAX_BYTES = 512 * 1024
const Params = z.object({ slug: Key })
type Params = z.infer<typeof Params>
const Query = z.object({ v: z.string().optional() })
type Query = z.infer<typeof Query>
const tags = ['namespaces']

/** Keeps browsers from running scripts in an uploaded file, also when it is opened as a page. */
const SAFE_HEADERS = { 'content-security-policy': "default-src 'none'; sandbox", 'content-disposition': 'inline' }

/** Accepts bodies of any content type as bytes: the type of the picture is detected from its content. */
const acceptBytes = (app: FastifyInstance) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BYTES }, (_request, body, done) => done(null, body))
}

/** Routes to upload the avatar of a namespace, for its admins, and to get it, for all. */
export const avatarRoutes = (app: FastifyInstance, service: AvatarServices): void => {
  void app.register(async (scope) => {
    acceptBytes(scope)
    putRoute(scope, service)
  })
  getRoute(app, service)
}

const putRoute = (app: FastifyInstance, service: AvatarServices) => {
  const { reads, namespaces, avatars, write, assertWritable, quotas } = service

  /** Stores a picture, if the quota has room for it. One that is stored already needs none. */
  const storeAvatar = (id: string, storageId: string, avatar: Avatar) =>
    quotas.avatars.enforce(id, async (reserve) => {
      reserve((await avatars.has(id, storageId)) ? 0 : avatar.bytes.length)
      await avatars.put(id, storageId, avatar)
    })

  app.put<{ Params: Params; Body: Buffer | undefined }>(
    '/v1/namespaces/:slug/avatar',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Upload the avatar, as an admin: PNG, JPEG or WebP of at most 512 KiB and 4,096 pixels a side',
        description:
          'Replaces the avatar that was there. What counts is the content of the body, not its content type. Errors: ' +
          '`invalid_request` (400) for what is no such picture; `forbidden` (403) for who is no admin; `quota_exceeded` ' +
          '(403) where the operator limits them; `not_found` (404); `payload_too_large` (413).',
        tags,
        consumes: ['image/png', 'image/jpeg', 'image/webp'],
        params: Params,
        response: answers(z.object({ namespace: NamespaceInfo }), 404),
      },
    },
    async (request, reply) => {
      const caller = requireCaller(request)
      const { id } = await namespaceOfAdmin(reads, idOfSlug(request.params.slug), caller)
      const bytes = request.body
      const type = bytes && detectImageType(bytes)
      if (!type) throw invalid(undefined, 'The body must be a PNG, JPEG or WebP picture of at most 4,096 pixels a side')
      assertWritable()
      const storageId = createHash('sha256').update(bytes).digest('base64url')
      await storeAvatar(id, storageId, { type, bytes })
      const namespace = await write(
        namespaces,
        id,
        {
          decide: changeAvatar(caller.userId, storageId),
          answer: (state) => toNamespaceView(id, presentNamespace(state), caller.userId),
        },
        contextOf(request),
      )
      await afterStored(avatars.deleteOthers(id, storageId))
      return ok(reply, { namespace })
    },
  )
}

const getRoute = (app: FastifyInstance, { reads, avatars }: AvatarServices) => {
  /** A URL with the version of the picture never shows another one; without it, caches have to ask each time. */
  const setCaching = (reply: FastifyReply, hasVersion: boolean) =>
    reply.header('cache-control', hasVersion ? 'public, max-age=31536000, immutable' : 'public, no-cache')

  app.get<{ Params: Params; Querystring: Query }>(
    '/v1/namespaces/:slug/avatar',
    {
      config: { auth: 'none' },
      schema: {
        summary: 'The avatar as a picture',
        description:
          'Anybody may see it. `avatarUrl` of a namespace is this address with `v`, which caches may keep for ever. ' +
          'Errors: `not_found` (404) without namespace or avatar.',
        tags,
        params: Params,
        querystring: Query,
        produces: ['image/png', 'image/jpeg', 'image/webp'],
        response: { 200: z.string().meta({ format: 'binary' }), 304: z.null(), 404: ErrorBody },
      },
    },
    async ({ params, query, headers }, reply) => {
      const found = await avatarIdOf(reads, idOfSlug(params.slug))
      if (!found) throw notFound()
      const etag = `"${found.storageId}"`
      reply.headers({ ...SAFE_HEADERS, etag })
      setCaching(reply, query.v === found.storageId)
      if (matchesEtag(headers['if-none-match'], etag)) return reply.code(304).send()
      const avatar = await avatars.get(found.namespaceId, found.storageId)
      if (!avatar) throw notFound()
      return reply.type(avatar.type).send(avatar.bytes)
    },
  )
}

const matchesEtag = (header: string | undefined, etag: string): boolean =>
  header !== undefined && header.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))
