import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type NamespaceInfo, type NamespaceView, namespaces } from '../../contract/namespaces.ts'
import type { BodyOf } from '../../contract/route.ts'
import { afterStored } from '../../eventstore/engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { invalid } from '../http/http-error.ts'
import { pickDefined } from '../http/check.ts'
import { route } from '../http/route.ts'
import { namespaceId } from '../../base/ids.ts'
import { createNamespace, presentNamespace, updateNamespace } from './decide.ts'
import { idOfSlug, namespaceById, namespacesOf } from './queries.ts'
import { normalizeSlug, problemOfSlug } from './slug.ts'
import { toNamespaceInfo, toNamespaceView } from './views.ts'
import type { NamespaceServices } from './services.ts'

/** The normalized slug of a new namespace. @throws HttpError invalid_request if it is reserved or malformed */
const newSlug = (text: string): string => {
  const problem = problemOfSlug(text)
  if (problem !== undefined) throw invalid('slug', problem)
  return normalizeSlug(text)!
}

/** Creates a namespace whose admin is the caller. @throws HttpError invalid_request; Rejected slug_taken */
export const makeNamespace = (
  { namespaces: streams, write }: NamespaceServices,
  request: FastifyRequest,
  given: BodyOf<(typeof namespaces)['POST /v1/namespaces']>,
): Promise<NamespaceInfo> => {
  const { userId } = requireCaller(request)
  const { displayName, type = 'org' } = given
  const slug = newSlug(given.slug)
  const id = namespaceId(slug)
  const described = pickDefined(given, ['description'])
  return write(
    streams,
    id,
    {
      decide: createNamespace({ slug, displayName, ...described, type, createdBy: userId }),
      answer: (state) => toNamespaceInfo(id, presentNamespace(state), userId),
    },
    contextOf(request),
  )
}

/** Changes a namespace as the caller, who has to be an admin. @throws Rejected not_found, forbidden */
export const changeNamespace = async (
  service: NamespaceServices,
  request: FastifyRequest,
  slug: string,
  given: BodyOf<(typeof namespaces)['PATCH /v1/namespaces/{slug}']>,
): Promise<NamespaceView> => {
  const { userId } = requireCaller(request)
  const change = pickDefined(given, ['displayName', 'description', 'retentionDays'])
  const id = idOfSlug(slug)
  const namespace = await service.write(
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
  return namespace
}

/** Routes to list, create, read and change namespaces. */
export const namespaceRoutes = (app: FastifyInstance, service: NamespaceServices): void => {
  const { reads } = service

  route(app, namespaces, 'GET /v1/namespaces', async (request) => ({
    namespaces: await namespacesOf(reads, requireCaller(request).userId),
  }))

  route(app, namespaces, 'POST /v1/namespaces', async (request) => ({
    namespace: await makeNamespace(service, request, request.body),
  }))

  route(app, namespaces, 'GET /v1/namespaces/{slug}', async ({ params, caller }) => ({
    namespace: await namespaceById(reads, idOfSlug(params.slug), caller?.userId),
  }))

  route(app, namespaces, 'PATCH /v1/namespaces/{slug}', async (request) => ({
    namespace: await changeNamespace(service, request, request.params.slug, request.body),
  }))
}
