import type { FastifyInstance } from 'fastify'
import { members } from '../../contract/members.ts'
import { afterStored } from '../../eventstore/engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { route } from '../http/route.ts'
import { userById } from '../user/queries.ts'
import { presentNamespace } from './decide.ts'
import { changeRole, removeMember } from './decide-members.ts'
import { idOfSlug, membersOf, namespaceOfMember } from './queries.ts'
import type { NamespaceServices } from './services.ts'

/** Routes to list, change and remove the members of a namespace. */
export const memberRoutes = (app: FastifyInstance, service: NamespaceServices): void => {
  const { reads, namespaces, write } = service

  route(app, members, 'GET /v1/namespaces/{slug}/members', async (request) => {
    const { id } = await namespaceOfMember(reads, idOfSlug(request.params.slug), requireCaller(request).userId)
    return { members: await membersOf(reads, id) }
  })

  route(app, members, 'PATCH /v1/namespaces/{slug}/members/{userId}', async (request) => {
    const { slug, userId } = request.params
    const { role, invitedBy, joinedAt } = await write(
      namespaces,
      idOfSlug(slug),
      {
        decide: changeRole(requireCaller(request).userId, userId, request.body.role),
        answer: (state) => presentNamespace(state).members.get(userId)!,
      },
      contextOf(request),
    )
    const invited = invitedBy === undefined ? {} : { invitedBy }
    const user = await afterStored(userById(reads, userId))
    return { member: { user, role, ...invited, joinedAt } }
  })

  route(app, members, 'DELETE /v1/namespaces/{slug}/members/{userId}', async (request) => {
    const { slug, userId } = request.params
    const decide = removeMember(requireCaller(request).userId, userId)
    await write(namespaces, idOfSlug(slug), { decide }, contextOf(request))
    return { removed: true as const }
  })
}
