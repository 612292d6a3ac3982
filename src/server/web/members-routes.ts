import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type InviteView, invites as inviteApi } from '../../contract/invites.ts'
import type { MemberView } from '../../contract/members.ts'
import { type NamespaceInfo, Role } from '../../contract/namespaces.ts'
import { Cursor, Key } from '../../contract/parameters.ts'
import type { UserView } from '../../contract/user.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { requireCaller } from '../http/caller.ts'
import { setStatus, toHttpError } from '../http/errors.ts'
import { formRoute } from '../http/forms.ts'
import { decodeCursor, encodeCursor, invalidCursor } from '../http/list-page.ts'
import { originOf } from '../http/origin.ts'
import type { HttpConfig } from '../http/settings.ts'
import { NOT_ADMIN, NOT_MEMBER } from '../namespace/decide.ts'
import { NO_MEMBER } from '../namespace/decide-members.ts'
import { shownInvites } from '../namespace/invite-queries.ts'
import { makeInvite, revokeInviteOf } from '../namespace/invite-routes.ts'
import { changeRoleOf, removeFrom } from '../namespace/member-routes.ts'
import {
  type AfterMember,
  countMembers,
  idOfSlug,
  memberOf,
  namespaceOfMember,
  otherMembers,
} from '../namespace/queries.ts'
import type { NamespaceServices } from '../namespace/services.ts'
import { beneathNamespace, namespacePath } from '../pages/links.ts'
import {
  type InviteDraft,
  type MembersView,
  MOST_INVITES,
  inviteForms,
  memberPages,
  membersPage,
  removalPage,
} from '../pages/members.ts'
import { sendPage } from '../pages/page.ts'
import { displayNamesOf } from '../user/queries.ts'
import { savedParameter } from './saved.ts'

const Params = z.object({ slug: Key })
type Params = z.infer<typeof Params>

/** What the page says after a form was taken. */
const saved = {
  created: 'The namespace is made. Invite the people who belong to it.',
  role: 'The role is changed.',
  removed: 'The member is removed.',
  invite: 'The invite is made: give its link to the people whom you invite.',
  revoked: 'The invite is revoked: its link works no more.',
} as const
type Saved = keyof typeof saved

const Query = z.object({
  cursor: Cursor.optional(),
  saved: savedParameter(saved),
})
type Query = z.infer<typeof Query>

const MEMBERS_ON_PAGE = 100

const pathOf = (name: string): string => `/@:slug/-/${name}`

const CursorKeys = z.tuple([z.int(), z.uuid()])

/** @throws 400 for an invalid cursor */
const afterOf = (cursor: string | undefined): AfterMember | undefined => {
  if (cursor === undefined) return undefined
  const keys = decodeCursor(cursor, CursorKeys)
  if (keys === undefined) throw invalidCursor()
  return keys
}

type MembersServices = NamespaceServices & { readonly config: HttpConfig }

/** What differs between the answers that show the page. */
type Shown = {
  readonly cursor?: string | undefined
  readonly saved?: Saved | undefined
  readonly problem?: string
  readonly draft?: InviteDraft
}

/** The members and the invites with the users who made their invites. */
const withInviters = async (
  { reads }: MembersServices,
  members: readonly MemberView[],
  invites: readonly InviteView[],
) => {
  const ids = [...members, ...invites].flatMap(({ invitedBy }) => invitedBy ?? [])
  const names = await displayNamesOf(reads, [...new Set(ids)])
  const userOf = (id: string): UserView => ({ id, ...(names.has(id) ? { displayName: names.get(id)! } : {}) })
  return {
    members: members.map((one) => ({
      ...one,
      inviter: one.invitedBy === undefined ? undefined : userOf(one.invitedBy),
    })),
    invites: invites.map((one) => ({ ...one, inviter: userOf(one.invitedBy) })),
  }
}

/** The namespace of a page, and the membership of who asks for it. @throws 404, and 403 for a user who is not a member */
const membershipOf = async ({ reads }: MembersServices, request: FastifyRequest) => {
  const { userId } = requireCaller(request)
  const id = idOfSlug((request.params as Params).slug)
  const namespace = await namespaceOfMember(reads, id, userId)
  const [own, count] = await Promise.all([memberOf(reads, id, userId), countMembers(reads, id)])
  if (!own) throw new Rejected('forbidden', NOT_MEMBER) // removed a moment ago
  return { namespace, own, count }
}

const openInvites = ({ reads, now }: MembersServices, { id, role }: NamespaceInfo) =>
  role === 'admin' ? shownInvites(reads, id, { now: now(), limit: MOST_INVITES }) : undefined

/** `/@{slug}/-/members` and its forms. */
export const membersRoutes = (app: FastifyInstance, service: MembersServices): void => {
  const { reads, config, now } = service

  const viewOf = async (request: FastifyRequest, shown: Shown): Promise<MembersView> => {
    const after = afterOf(shown.cursor)
    const { namespace, own, count } = await membershipOf(service, request)
    const { id } = namespace
    const [page, invites] = await Promise.all([
      otherMembers(reads, id, { userId: own.user.id, after, limit: MEMBERS_ON_PAGE }),
      openInvites(service, namespace),
    ])
    const named = await withInviters(service, [own, ...page.members], invites ?? [])
    return {
      namespace,
      count,
      own: named.members[0]!,
      others: named.members.slice(1),
      isFirst: after === undefined,
      next: page.next && encodeCursor(...page.next),
      invites: invites && named.invites,
      origin: originOf(app, config),
      saved: shown.saved && saved[shown.saved],
      ...(shown.problem === undefined ? {} : { problem: shown.problem }),
      ...(shown.draft === undefined ? {} : { draft: shown.draft }),
      now: now(),
    }
  }

  /** The page again, with what went wrong: somebody else has changed the namespace while it was open. */
  const showProblem = async (request: FastifyRequest, reply: FastifyReply, error: unknown): Promise<FastifyReply> => {
    if (!(error instanceof Rejected) || !['last_admin', 'not_found'].includes(error.code)) throw error
    const page = membersPage(await viewOf(request, { problem: error.message }))
    return sendPage(setStatus(reply, toHttpError(error)), page)
  }

  app.get<{ Params: Params; Querystring: Query }>(
    pathOf(memberPages.list),
    { config: { auth: 'required', htmlPage: true }, schema: { params: Params, querystring: Query } },
    async (request, reply) => sendPage(reply, membersPage(await viewOf(request, request.query))),
  )

  removalRoutes(app, service, showProblem)
  changeForms(app, service, showProblem)
  makeForm(app, service, viewOf)
}

type ShowProblem = (request: FastifyRequest, reply: FastifyReply, error: unknown) => Promise<FastifyReply>

const form = { auth: 'required', params: Params } as const
const listAfter = (slug: string, what: Saved): string => `${beneathNamespace(slug, memberPages.list)}?saved=${what}`

const removalRoutes = (app: FastifyInstance, service: MembersServices, showProblem: ShowProblem) => {
  const Query = z.object({ user: Key })

  app.get<{ Params: Params; Querystring: z.infer<typeof Query> }>(
    pathOf(memberPages.removal),
    { config: { auth: 'required', htmlPage: true }, schema: { params: Params, querystring: Query } },
    async (request, reply) => {
      const { namespace, own, count } = await membershipOf(service, request)
      const { user } = request.query
      if (user !== own.user.id && own.role !== 'admin') throw new Rejected('forbidden', NOT_ADMIN)
      const member = await memberOf(service.reads, namespace.id, user)
      if (!member) return showProblem(request, reply, new Rejected('not_found', NO_MEMBER))
      return sendPage(reply, removalPage({ namespace, own: { ...own, inviter: undefined }, count, member }))
    },
  )

  formRoute(app, { ...form, path: pathOf(memberPages.removal), fields: { user: Key } }, async (request, reply) => {
    const { slug } = request.params as Params
    const { user: userId } = request.body
    try {
      await removeFrom(service, request, { slug, userId })
    } catch (error) {
      return showProblem(request, reply, error)
    }
    return userId === requireCaller(request).userId ? `${namespacePath(slug)}?saved=left` : listAfter(slug, 'removed')
  })
}

const changeForms = (app: FastifyInstance, service: MembersServices, showProblem: ShowProblem) => {
  formRoute(
    app,
    { ...form, path: pathOf(memberPages.role), fields: { user: Key, role: Role } },
    async (request, reply) => {
      const { slug } = request.params as Params
      const { user: userId, role } = request.body
      try {
        await changeRoleOf(service, request, { slug, userId }, role)
      } catch (error) {
        return showProblem(request, reply, error)
      }
      return listAfter(slug, 'role')
    },
  )

  formRoute(app, { ...form, path: pathOf(inviteForms.revoke), fields: { code: Key } }, async (request) => {
    const { slug } = request.params as Params
    await revokeInviteOf(service, request, { slug, code: request.body.code })
    return `${listAfter(slug, 'revoked')}#invites`
  })
}

const InviteTerms = inviteApi['POST /v1/namespaces/{slug}/invites'].body.schema

const WRONG = {
  email: 'This is not an e-mail address.',
  maxUses: 'Type a whole number: 1 for one person, 0 for any number.',
} as const

/** The terms of a form of a new invite, or the form with what is wrong. Fields that were left empty count as absent. */
const termsOf = (sent: Pick<InviteDraft, 'role' | 'email' | 'maxUses'>) => {
  const [email, maxUses] = [sent.email.trim(), sent.maxUses.trim()]
  const terms = InviteTerms.safeParse({
    role: sent.role,
    ...(email === '' ? {} : { email }),
    ...(maxUses === '' ? {} : { maxUses: Number(maxUses) }),
  })
  if (terms.success) return { terms: terms.data }
  const fields = new Set(terms.error.issues.map(({ path }) => path[0]))
  const wrongOf = (field: keyof typeof WRONG) => (fields.has(field) ? WRONG[field] : undefined)
  return { draft: { ...sent, wrong: { email: wrongOf('email'), maxUses: wrongOf('maxUses') } } }
}

type ViewOf = (request: FastifyRequest, shown: Shown) => Promise<MembersView>

const makeForm = (app: FastifyInstance, service: MembersServices, viewOf: ViewOf) => {
  const fields = { role: Role, email: z.string(), maxUses: z.string() }
  formRoute(app, { ...form, path: pathOf(inviteForms.make), fields }, async (request, reply) => {
    const { slug } = request.params as Params
    const { terms, draft } = termsOf(request.body)
    if (draft) return sendPage(reply.code(400), membersPage(await viewOf(request, { draft })))
    await makeInvite(service, request, slug, terms)
    return `${listAfter(slug, 'invite')}#invites`
  })
}
