import { countText } from '../../base/for-people.ts'
import type { InviteView } from '../../contract/invites.ts'
import type { MemberView } from '../../contract/members.ts'
import type { NamespaceInfo, Role } from '../../contract/namespaces.ts'
import { icon } from '../../transcript/html/icons.ts'
import { type Html, exactly, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { linkHtml } from './commands.ts'
import { dayHtml } from './days.ts'
import { choice, savedNote, wrongHtml } from './form-parts.ts'
import { beneathNamespace, invitePath } from './links.ts'
import { namespaceHeading } from './namespace-tabs.ts'
import type { Page } from './page.ts'
import { personHtml, personName } from './person.ts'

/** The names of the pages of members, and of the addresses that their forms are posted to. */
export const memberPages = { list: 'members', role: 'member-role', removal: 'remove-member' } as const
/** The names of the addresses that the forms of invites are posted to. */
export const inviteForms = { make: 'invites', revoke: 'revoke-invite' } as const

/** A member, with the user who made the invite. */
export type ShownMember = MemberView & { readonly inviter: MemberView['user'] | undefined }
export type ShownInvite = InviteView & { readonly inviter: MemberView['user'] }

/** The form of a new invite as it was sent, with what is wrong with each field. */
export type InviteDraft = {
  readonly role: Role
  readonly email: string
  readonly maxUses: string
  readonly wrong: { readonly email?: string | undefined; readonly maxUses?: string | undefined }
}

const NEW_DRAFT: InviteDraft = { role: 'member', email: '', maxUses: '1', wrong: {} }

export type MembersView = {
  readonly namespace: NamespaceInfo
  /** The viewer. */
  readonly own: ShownMember
  /** The other members on this page. */
  readonly others: readonly ShownMember[]
  /** Whether this is the first page, which begins with the viewer. */
  readonly isFirst: boolean
  readonly next: string | undefined
  readonly count: { readonly members: number; readonly admins: number }
  /** Undefined for viewers who are not admins. */
  readonly invites: readonly ShownInvite[] | undefined
  /** The address of the service. */
  readonly origin: string
  /** What was just done, or why it was not. */
  readonly saved: string | undefined
  readonly problem?: string | undefined
  readonly draft?: InviteDraft
  readonly now: number
}

const LAST_ADMIN = 'The last admin stays: make another member an admin first.'
const LAST_ADMIN_ID = 'last-admin'

const roleNames = { admin: 'Admin', member: 'Member' } as const

const isLastAdmin = ({ own, count }: Pick<MembersView, 'own' | 'count'>, { user, role }: MemberView): boolean =>
  user.id === own.user.id && role === 'admin' && count.admins === 1

/** The button that makes an admin a member, or a member an admin. */
const roleForm = (view: MembersView, member: ShownMember): Html => {
  const { user, role } = member
  const to: Role = role === 'admin' ? 'member' : 'admin'
  const label = role === 'admin' ? 'Make a member' : 'Make an admin'
  const shown = user.id === view.own.user.id ? 'Step down' : label
  if (isLastAdmin(view, member))
    return markup`<button class="btn" disabled aria-describedby="${LAST_ADMIN_ID}">${shown}</button>`
  return markup`<form method="post" action="${beneathNamespace(view.namespace.slug, memberPages.role)}"><input type="hidden" name="user" value="${user.id}"><input type="hidden" name="role" value="${to}"><button class="btn" aria-label="${shown}: ${personName(user)}">${shown}</button></form>`
}

const removal = (view: MembersView, member: ShownMember): Html => {
  const { user } = member
  const isOwn = user.id === view.own.user.id
  const label = isOwn ? 'Leave' : 'Remove'
  if (isLastAdmin(view, member))
    return markup`<button class="btn bare" disabled aria-describedby="${LAST_ADMIN_ID}">${label}</button>`
  return markup`<a class="btn bare risk" href="${beneathNamespace(view.namespace.slug, memberPages.removal)}?user=${user.id}" aria-label="${isOwn ? 'Leave' : `Remove ${personName(user)}`}">${label}</a>`
}

const memberRow = (view: MembersView, member: ShownMember): Html => {
  const { user, role, joinedAt, inviter } = member
  const isOwn = user.id === view.own.user.id
  const isAdmin = view.own.role === 'admin'
  const tag = isOwn ? markup` <span class="tag ink">you</span>` : none
  const why = isLastAdmin(view, member) ? markup`<small class="soft" id="${LAST_ADMIN_ID}">${LAST_ADMIN}</small>` : none
  return markup`<tr><td>${personHtml(user, isOwn)}${tag}</td>
<td><span class="row">${roleNames[role]}${isAdmin ? roleForm(view, member) : none}${why}</span></td>
<td class="soft" data-of="Since">${dayHtml(joinedAt, view.now)}</td><td class="soft" data-of="Invited by">${inviter === undefined ? markup`<span class="faint">nobody</span>` : markup`<bdi>${personName(inviter)}</bdi>`}</td>
<td class="n">${isOwn || isAdmin ? removal(view, member) : none}</td></tr>
`
}

const membersTable = (view: MembersView): Html => {
  const { namespace, own, others, isFirst, next, count } = view
  const more =
    next === undefined
      ? none
      : markup`<p><a class="btn" rel="next" href="${beneathNamespace(namespace.slug, memberPages.list)}?cursor=${next}">More members</a></p>\n`
  return markup`<section><h2 class="day">Members <small>${countText(count.members)}</small></h2>
<table class="grid stack"><thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Since</th><th scope="col">Invited by</th><th scope="col"><span class="vh">Action</span></th></tr></thead>
<tbody>${(isFirst ? [own, ...others] : others).map((member) => memberRow(view, member))}</tbody></table>
${more}</section>
`
}

const MINUTE_MS = 60_000
const HOUR_MINUTES = 60

/** How much time is left, such as `23 h` or `40 min`. */
const leftText = (ms: number): string => {
  const minutes = Math.max(1, Math.floor(ms / MINUTE_MS))
  return minutes < HOUR_MINUTES ? `${minutes} min` : `${Math.floor(minutes / HOUR_MINUTES)} h`
}

const usesText = ({ useCount, maxUses = 1 }: InviteView): string =>
  maxUses === 0 ? `${countText(useCount)} used, any number may` : `${countText(useCount)} of ${countText(maxUses)} used`

const states = { pending: 'open', accepted: 'used up', revoked: 'revoked', expired: 'expired' } as const

const inviteRow = ({ namespace, origin, now }: MembersView, invite: ShownInvite): Html => {
  const { code, state, role, email, expiresAt, inviter } = invite
  const isOpen = state === 'pending'
  const url = `${origin}${invitePath(code)}`
  const revoke = markup`<form method="post" action="${beneathNamespace(namespace.slug, inviteForms.revoke)}"><input type="hidden" name="code" value="${code}"><button class="btn bare risk" aria-label="Revoke the invite ${code}">Revoke</button></form>`
  const whom = email === undefined ? none : markup`, only <bdi>${visibleLine(email)}</bdi>`
  return markup`<tr><td>${isOpen ? linkHtml(url) : markup`<code class="faint">${code}</code>`}</td>
<td><span class="tag${isOpen ? ' ok' : ''}">${states[state]}</span>${isOpen ? markup` <span class="soft">${leftText(expiresAt - now)} left</span>` : none}</td>
<td class="soft">${usesText(invite)}</td><td class="soft">as ${roleNames[role].toLowerCase()}${whom}<br>by <bdi>${personName(inviter)}</bdi></td><td class="n">${isOpen ? revoke : none}</td></tr>
`
}

const inviteForm = ({ namespace, draft = NEW_DRAFT }: MembersView): Html => {
  const { role, email, maxUses, wrong } = draft
  return markup`<form class="form" id="invite" method="post" action="${beneathNamespace(namespace.slug, inviteForms.make)}"><h3>A new invite</h3>
<fieldset><legend>They join as</legend>
${choice('role', 'member', 'Member', 'Reads everything here, adds sessions, changes their own.', role === 'member')}${choice('role', 'admin', 'Admin', 'Also changes the namespace, its members and all sessions.', role === 'admin')}</fieldset>
<label>How many may use it <span class="hint">0: any number, as long as it is open, which is 24 hours.</span>
<span class="field"><input name="maxUses" type="number" min="0" inputmode="numeric" value="${exactly(maxUses)}"></span>${wrongHtml(wrong.maxUses)}</label>
<label>E-mail <span class="hint">May be left out. With it, only an account that has confirmed this address may join.</span>
<span class="field"><input name="email" type="email" autocomplete="off" value="${exactly(email)}"></span>${wrongHtml(wrong.email)}</label>
<div class="row"><button class="btn main">${icon('plus')}Make the invite</button></div></form>
`
}

/** The most invites on the page; older ones are found in the timeline. */
export const MOST_INVITES = 100

const invitesSection = (view: MembersView): Html => {
  const { invites, namespace } = view
  if (invites === undefined) return none
  const open = invites.filter(({ state }) => state === 'pending').length
  const table =
    invites.length === 0
      ? markup`<p class="soft">Nobody has been invited yet.</p>\n`
      : markup`<table class="grid stack"><thead><tr><th scope="col">Link</th><th scope="col">State</th><th scope="col">Uses</th><th scope="col">For</th><th scope="col"><span class="vh">Action</span></th></tr></thead>
<tbody>${invites.map((invite) => inviteRow(view, invite))}</tbody></table>\n`
  const older =
    invites.length < MOST_INVITES
      ? none
      : markup`<p class="soft">Older invites are in the <a href="${beneathNamespace(namespace.slug, 'timeline')}">timeline</a>.</p>\n`
  return markup`<section id="invites"><h2 class="day">Invites <small>${countText(open)} open</small></h2>
${table}${older}${inviteForm(view)}</section>
`
}

/** `/@{slug}/-/members`: who belongs to a namespace, and for admins its invites. */
export const membersPage = (view: MembersView): Page => {
  const { namespace, saved, problem, isFirst } = view
  const beside =
    view.invites === undefined ? none : markup`<a class="btn push" href="#invite">${icon('plus')}Invite</a>`
  const failed =
    problem === undefined
      ? none
      : markup`<div class="note bad" role="alert">${icon('warning')}<div>${problem}</div></div>\n`
  return {
    title: `Members of @${namespace.slug}`,
    name: 'members',
    // The routes of the forms check the origin of the page.
    referrer: 'same-origin',
    heading: namespaceHeading('Members', namespace, 'members', beside),
    layout: 'wide',
    content: markup`${savedNote(saved)}${failed}${membersTable(view)}${isFirst ? invitesSection(view) : none}`,
  }
}

type RemovalView = Pick<MembersView, 'namespace' | 'own' | 'count'> & { readonly member: MemberView }

/** `/@{slug}/-/remove-member?user=…`: says what goes before a member leaves or is removed. */
export const removalPage = (view: RemovalView): Page => {
  const { namespace, own, member } = view
  const { slug } = namespace
  const { user } = member
  const isOwn = user.id === own.user.id
  const name = personName(user)
  const title = isOwn ? `Leave @${slug}?` : `Remove ${name} from @${slug}?`
  const loses = isOwn
    ? markup`You will no longer read what is not public here, at once and on all of your devices.`
    : markup`<bdi>${name}</bdi> will no longer read what is not public here, at once and on all devices.`
  const last = isLastAdmin(view, member)
  const button = markup`<button class="btn risk"${last ? markup` disabled aria-describedby="${LAST_ADMIN_ID}"` : none}>${isOwn ? 'Leave' : 'Remove'}</button>`
  return {
    title,
    name: 'member-removal',
    referrer: 'same-origin',
    heading: markup`<h1 dir="auto">${title}</h1>\n`,
    content: markup`<p>${loses} The sessions that ${isOwn ? 'you' : 'they'} added stay here. The open invites that ${isOwn ? 'you' : 'they'} made are revoked.
${isOwn ? 'To come back, you need a new invite of an admin.' : 'To come back, they need a new invite.'}</p>
<form class="form" method="post" action="${beneathNamespace(slug, memberPages.removal)}"><input type="hidden" name="user" value="${user.id}">
<div class="row"><a class="btn" href="${beneathNamespace(slug, memberPages.list)}">Cancel</a>${button}${last ? markup`<small class="soft" id="${LAST_ADMIN_ID}">${LAST_ADMIN}</small>` : none}</div></form>
`,
  }
}
