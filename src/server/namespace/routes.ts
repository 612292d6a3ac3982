import type { FastifyInstance } from 'fastify'
import { namespaces } from '../../contract/namespaces.ts'
import { afterStored } from '../../eventstore/engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { invalid } from '../http/http-error.ts'
import { pickDefined } from '../http/check.ts'
import { route } from '../http/route.ts'
import { namespaceId } from '../../base/ids.ts'
import { createNamespace, presentNamespace, updateNamespace } from './decide.ts'
import { idOfSlug, namespaceById, namespacesOf } from './queries.ts'
import { isReserved, normalizeSlug } from './slug.ts'
import { toNamespaceInfo, toNamespaceView } from './views.ts'
import type { NamespaceServices } from './services.ts'

/** The normalized slug of a new namespace. @throws HttpError invalid_request if it is reserved or malformed */
const newSlug = (text: string): string => {
  const slug = normalizeSlug(text)
  if (slug === undefined) throw invalid('slug', 'must be 1 to 64 letters and digits, with single hyphens between them')
  if (isReserved(slug)) throw invalid('slug', 'is reserved: choose another one')
  return slug
}

/** Routes to list, create, read and change namespaces. */
export const namespaceRoutes = (app: FastifyInstance, service: NamespaceServices): void => {
  const { reads, write } = service

  route(app, namespaces, 'GET /v1/namespaces', async (request) => ({
    namespaces: await namespacesOf(reads, requireCaller(request).userId),
  }))

  route(app, namespaces, 'POST /v1/namespaces', async (request) => {
    const { userId } = requireCaller(request)
    const { displayName, type = 'org' } = request.body
    const slug = newSlug(request.body.slug)
    const id = namespaceId(slug)
    const described = pickDefined(request.body, ['description'])
    const namespace = await write(
      service.namespaces,
      id,
      {
        decide: createNamespace({ slug, displayName, ...described, type, createdBy: userId }),
        answer: (state) => toNamespaceInfo(id, presentNamespace(state), userId),
      },
      contextOf(request),
    )
    return { namespace }
  })

  route(app, namespaces, 'GET /v1/namespaces/{slug}', async ({ params, caller }) => ({
    namespace: await namespaceById(reads, idOfSlug(params.slug), caller?.userId),
  }))

  route(app, namespaces, 'PATCH /v1/namespaces/{slug}', async (request) => {
    const { userId } = requireCaller(request)
    const change = pickDefined(request.body, ['displayName', 'description', 'retentionDays'])
    const id = idOfSlug(request.params.slug)
    const namespace = await write(
      service.namespaces,
      id,
      {
        decide: updateNamespace(userId, change),
        answer: (state) => toNamespaceView(id, presentNamespace(state), userId),
      },
      contextOf(request),
    )
    // Also when nothing was changed: the answer to an earlier request may have been lost.
    if (change.retentionDays !== undefined) await afterStored(service.keepTraces(id, namespace.retentionDays))
    return { namespace }
  })
}
