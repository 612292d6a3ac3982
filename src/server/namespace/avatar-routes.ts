import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type NamespaceInfo, namespaces } from '../../contract/namespaces.ts'
import { afterStored } from '../../eventstore/engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { matchesEtag } from '../http/reply.ts'
import { HttpError, invalid } from '../http/http-error.ts'
import { route } from '../http/route.ts'
import { changeAvatar, presentNamespace } from './decide.ts'
import { detectImageType } from './image-type.ts'
import type { Avatar } from './avatar-store.ts'
import { avatarIdOf, idOfSlug, namespaceOfAdmin } from './queries.ts'
import { assertFits } from './room.ts'
import { toNamespaceInfo } from './views.ts'
import type { AvatarServices } from './services.ts'

/** The largest picture, in bytes. */
export const MAX_BYTES = 512 * 1024

/** Keeps browsers from running scripts in an uploaded file, also when it is opened as a page. */
const SAFE_HEADERS = { 'content-security-policy': "default-src 'none'; sandbox", 'content-disposition': 'inline' }

/** Accepts bodies of any content type as bytes: the type of the picture is detected from its content. */
const acceptBytes = (app: FastifyInstance) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BYTES }, (_request, body, done) => done(null, body))
}

/** Routes to upload the avatar of a namespace, for its admins, and to get it, for everybody. */
export const avatarRoutes = (app: FastifyInstance, service: AvatarServices): void => {
  void app.register(async (scope) => {
    acceptBytes(scope)
    putRoute(scope, service)
  })
  getRoute(app, service)
}

const NO_PICTURE = 'The body is not a PNG, JPEG or WebP picture of at most 4,096 pixels a side: send one that is'

/** Stores a picture if the quota has room for it. A picture that is stored already needs no room. */
const storeAvatar = ({ avatars, quotas }: AvatarServices, id: string, storageId: string, avatar: Avatar) =>
  quotas.avatars.enforce(id, avatar.bytes.length, async (room) => {
    if (!(await avatars.has(id, storageId))) assertFits(room, avatar.bytes.length)
    await avatars.put(id, storageId, avatar)
  })

/**
 * Gives a namespace a picture, as the caller, who has to be an admin.
 * @throws Rejected not_found, forbidden; HttpError invalid_request if the bytes are no picture; as `assertFits`
 */
export const changePicture = async (
  service: AvatarServices,
  request: FastifyRequest,
  slug: string,
  bytes: Buffer | undefined,
): Promise<NamespaceInfo> => {
  const { reads, avatars, write, assertWritable } = service
  const caller = requireCaller(request)
  const { id } = await namespaceOfAdmin(reads, idOfSlug(slug), caller)
  const type = bytes && detectImageType(bytes)
  if (!type) throw invalid(undefined, NO_PICTURE)
  assertWritable()
  const storageId = createHash('sha256').update(bytes).digest('base64url')
  await storeAvatar(service, id, storageId, { type, bytes })
  const namespace = await write(
    service.namespaces,
    id,
    {
      decide: changeAvatar(caller.userId, storageId),
      answer: (state) => toNamespaceInfo(id, presentNamespace(state), caller.userId),
    },
    contextOf(request),
  )
  await afterStored(avatars.deleteOthers(id, storageId))
  return namespace
}

const putRoute = (app: FastifyInstance, service: AvatarServices) =>
  route(app, namespaces, 'PUT /v1/namespaces/{slug}/avatar', async (request) => ({
    namespace: await changePicture(service, request, request.params.slug, request.body),
  }))

const noAvatar = () => new HttpError('not_found', 'There is no such namespace, or it has no avatar: check its slug')

const getRoute = (app: FastifyInstance, { reads, avatars }: AvatarServices) => {
  /** A URL with a version always shows the same picture; without a version, caches have to ask each time. */
  const setCaching = (reply: FastifyReply, hasVersion: boolean) =>
    reply.header('cache-control', hasVersion ? 'public, max-age=31536000, immutable' : 'public, no-cache')

  route(app, namespaces, 'GET /v1/namespaces/{slug}/avatar', async ({ params, query, headers }, reply) => {
    const found = await avatarIdOf(reads, idOfSlug(params.slug))
    if (!found) throw noAvatar()
    const etag = `"${found.storageId}"`
    reply.headers({ ...SAFE_HEADERS, etag })
    setCaching(reply, query.v === found.storageId)
    if (matchesEtag(headers['if-none-match'], etag)) return reply.code(304).send()
    const avatar = await avatars.get(found.namespaceId, found.storageId)
    if (!avatar) throw noAvatar()
    return reply.type(avatar.type).send(avatar.bytes)
  })
}
