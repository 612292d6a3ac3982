import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { afterStored } from '../engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { done } from '../contract/fields.ts'
import { Key } from '../contract/parameters.ts'
import { answers, ok } from '../http/reply.ts'
import { userById } from '../user/queries.ts'
import { presentNamespace } from './decide.ts'
import { changeRole, removeMember } from './decide-members.ts'
import { Role } from './events.ts'
import { idOfSlug, membersOf, namespaceOfMember } from './queries.ts'
import { MemberView } from './views.ts'
import type { NamespaceServices } from './services.ts'

const NamespaceParams = z.object({ slug: Key })
type NamespaceParams = z.infer<typeof NamespaceParams>
const MemberParams = NamespaceParams.extend({ userId: Key })
type MemberParams = z.infer<typeof MemberParams>
const RoleChange = z
  .object({ role: Role })
  .meta({ id: 'RoleChange', description: 'The role from now on', examples: [{ role: 'admin' }] })
type RoleChange = z.infer<typeof RoleChange>

const tags = ['members']

/** Routes to list, change and remove the members of a namespace. */
export const memberRoutes = (app: FastifyInstance, service: NamespaceServices): void => {
  const { reads, namespaces, write } = service

  app.get<{ Params: NamespaceParams }>(
    '/v1/namespaces/:slug/members',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'List the members of a namespace, as one of them',
        description:
          'For its members. Errors: `forbidden` (403) for who is no member; `not_found` (404) for an unknown namespace.',
        tags,
        params: NamespaceParams,
        response: answers(z.object({ members: z.array(MemberView).meta({ description: 'The members' }) }), 403, 404),
      },
    },
    async (request, reply) => {
      const { id } = await namespaceOfMember(reads, idOfSlug(request.params.slug), requireCaller(request).userId)
      return ok(reply, { members: await membersOf(reads, id) })
    },
  )

  app.patch<{ Params: MemberParams; Body: RoleChange }>(
    '/v1/namespaces/:slug/members/:userId',
    {
      config: { auth: 'required' },
      schema: {
        summary: "Change a member's role, as an admin",
        description:
          'The same role again changes nothing. Errors: `forbidden` (403) for who is no admin; `not_found` (404) for an ' +
          'unknown namespace or member; `last_admin` (409) when no admin would be left.',
        tags,
        params: MemberParams,
        body: RoleChange,
        response: answers(z.object({ member: MemberView }), 404, 409),
      },
    },
    async (request, reply) => {
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
      return ok(reply, { member: { user, role, ...invited, joinedAt } })
    },
  )

  app.delete<{ Params: MemberParams }>(
    '/v1/namespaces/:slug/members/:userId',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Remove a member, as an admin, or leave',
        description:
          'The rights of the member end at once here, and within a second on other nodes of the service. Open invites ' +
          'that the member made are revoked; traces stay. Errors: `forbidden` (403) for who is no admin and removes ' +
          'another; `not_found` (404) for an unknown namespace or member; `last_admin` (409) when no admin would be ' +
          'left.',
        tags,
        params: MemberParams,
        response: answers(z.object({ removed: done('That the member is removed') }), 404, 409),
      },
    },
    async (request, reply) => {
      const { slug, userId } = request.params
      const decide = removeMember(requireCaller(request).userId, userId)
      await write(namespaces, idOfSlug(slug), { decide }, contextOf(request))
      return ok(reply, { removed: true })
    },
  )
}
