import type { FastifyInstance, FastifyRequest } from 'fastify'
import { members } from '../../contract/members.ts'
import type { Role } from '../../contract/namespaces.ts'
import { afterStored } from '../../eventstore/engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { route } from '../http/route.ts'
import { userById } from '../user/queries.ts'
import { type Membership, presentNamespace } from './decide.ts'
import { changeRole, removeMember } from './decide-members.ts'
import { idOfSlug, membersOf, namespaceOfMember } from './queries.ts'
import type { NamespaceServices } from './services.ts'

type OfMember = { readonly slug: string; readonly userId: string }

/** Changes the role of a member as the caller, who has to be an admin. @throws Rejected forbidden, not_found, last_admin */
export const changeRoleOf = (
  { namespaces, write }: NamespaceServices,
  request: FastifyRequest,
  { slug, userId }: OfMember,
  role: Role,
): Promise<Membership> =>
  write(
    namespaces,
    idOfSlug(slug),
    {
      decide: changeRole(requireCaller(request).userId, userId, role),
      answer: (state) => presentNamespace(state).members.get(userId)!,
    },
    contextOf(request),
  )

/** Removes a member as the caller: an admin, or that member. @throws Rejected forbidden, not_found, last_admin */
export const removeFrom = async (
  { namespaces, write }: NamespaceServices,
  request: FastifyRequest,
  { slug, userId }: OfMember,
): Promise<void> => {
  const decide = removeMember(requireCaller(request).userId, userId)
  await write(namespaces, idOfSlug(slug), { decide }, contextOf(request))
}

/** Routes to list, change and remove the members of a namespace. */
export const memberRoutes = (app: FastifyInstance, service: NamespaceServices): void => {
  const { reads } = service

  route(app, members, 'GET /v1/namespaces/{slug}/members', async (request) => {
    const { id } = await namespaceOfMember(reads, idOfSlug(request.params.slug), requireCaller(request).userId)
    return { members: await membersOf(reads, id) }
  })

  route(app, members, 'PATCH /v1/namespaces/{slug}/members/{userId}', async (request) => {
    const { role, invitedBy, joinedAt } = await changeRoleOf(service, request, request.params, request.body.role)
    const invited = invitedBy === undefined ? {} : { invitedBy }
    const user = await afterStored(userById(reads, request.params.userId))
    return { member: { user, role, ...invited, joinedAt } }
  })

  route(app, members, 'DELETE /v1/namespaces/{slug}/members/{userId}', async (request) => {
    await removeFrom(service, request, request.params)
    return { removed: true as const }
  })
}
