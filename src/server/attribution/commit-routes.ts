import type { FastifyInstance } from 'fastify'
import { commitId, traceId } from '../../base/ids.ts'
import { recordedCommits as api } from '../../contract/attribution.ts'
import { DEFAULT_LIMIT } from '../../contract/parameters.ts'
import { removeCommit } from '../commit/decide.ts'
import { commitsReplacedBy, listCommits } from '../commit/queries.ts'
import { repositoryOf } from '../commit/repository.ts'
import { traceForHistory } from '../history/locate.ts'
import { longBody } from '../http/body.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { route, type RouteRequest } from '../http/route.ts'
import { idOfSlug, namespaceOfMember } from '../namespace/queries.ts'
import { recordCommits } from './commits.ts'
import type { AttributionServices } from './services.ts'

/** Recorded commits. */
export const commitRoutes = (app: FastifyInstance, services: AttributionServices): void => {
  const { reads, commits, write } = services

  const recording = 'POST /v1/namespaces/{slug}/commits'
  const recordAnswers = async (request: RouteRequest<(typeof api)[typeof recording]>) => {
    const { id } = await namespaceOfMember(reads, idOfSlug(request.params.slug), requireCaller(request).userId)
    return recordCommits(services, id, request.body, contextOf(request))
  }
  route(app, api, recording, recordAnswers, longBody(api[recording]))

  route(app, api, 'GET /v1/namespaces/{slug}/commits', async (request) => {
    const { id: namespaceId } = await namespaceOfMember(
      reads,
      idOfSlug(request.params.slug),
      requireCaller(request).userId,
    )
    const { repository, trace, limit = DEFAULT_LIMIT, cursor, ...query } = request.query
    const filter = {
      ...{ ...query, namespaceId },
      repository: repository === undefined ? undefined : repositoryOf(repository),
      traceId: trace === undefined ? undefined : traceId(namespaceId, trace),
    }
    return listCommits(reads, filter, { limit, cursor })
  })

  route(app, api, 'DELETE /v1/namespaces/{slug}/commits/{sha}', async (request) => {
    const { userId } = requireCaller(request)
    const { id: namespaceId, role } = await namespaceOfMember(reads, idOfSlug(request.params.slug), userId)
    const id = commitId(namespaceId, repositoryOf(request.query.repository), request.params.sha)
    // Read before the removal: what this commit had taken the place of would show again.
    const replaced = await commitsReplacedBy(reads, id)
    const context = contextOf(request)
    await write(commits, id, { decide: removeCommit({ userId, isAdmin: role === 'admin' }) }, context)
    for (const one of replaced) await write(commits, one, { decide: removeCommit({ userId, isAdmin: true }) }, context)
    return { removed: true as const }
  })

  route(app, api, 'GET /v1/traces/{externalId}/commits', async ({ params, query, caller }) => {
    const { limit = DEFAULT_LIMIT, cursor, namespace } = query
    const trace = await traceForHistory(services, { externalId: params.externalId, namespace }, caller)
    const filter = { namespaceId: trace.namespace_id, traceId: trace.id }
    return listCommits(reads, filter, { limit, cursor })
  })
}
