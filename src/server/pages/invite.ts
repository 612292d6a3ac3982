import type { InviteState, PublicInvite } from '../../contract/invites.ts'
import type { Role } from '../../contract/namespaces.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { timeHtml } from './days.ts'
import { invitePath, namespacePath, signInPath } from './links.ts'
import { type Page, blankPage } from './page.ts'
import { CODEHOST_SIGN_IN, type NamedUser, codehostTargets, isolated, shortNameHtml, userHtml } from './sign-in.ts'

/** The paths that the forms of an invite's page are posted to. */
export const inviteForms = {
  /** Accepts as the user who is signed in. */
  accept: (code: string) => `${invitePath(code)}/accept`,
  /** Accepts as the user of this browser, who may be a new one. */
  join: (code: string) => `${invitePath(code)}/join`,
} as const

/** The longest name that a new person may have. */
export const MOST_IN_NAME = 200

/** Why nobody becomes a new person in this browser. */
type NoNewcomers = 'codehost' | 'closed' | 'address'

/** How a viewer who is not signed in may accept. */
export type WaysIn = {
  /** The user whom this browser may sign in. */
  readonly known: NamedUser | undefined
  /** The host name of the code host. */
  readonly codehost: string | undefined
  readonly newcomers: NoNewcomers | 'welcome'
  /** The value of the hidden field of the form of this browser. */
  readonly token: string
}

/** What the viewer of an invite can do with it. */
export type InviteSituation =
  | { readonly is: 'ended'; readonly state: Exclude<InviteState, 'pending'> }
  | { readonly is: 'member' }
  | { readonly is: 'ready'; readonly user: NamedUser }
  | { readonly is: 'other address'; readonly user: NamedUser; readonly codehost: string | undefined }
  | { readonly is: 'signed out'; readonly ways: WaysIn }

export type ShownInvite = {
  readonly code: string
  readonly invite: PublicInvite
  /** The name of the admin who made it, if they have one. */
  readonly invitedBy: string | undefined
  /** Whether it is for a certain e-mail address, which the page does not show. */
  readonly isForAddress: boolean
  /** Whether the viewer is signed in. */
  readonly isSignedIn: boolean
}

/** The routes of the forms check the origin of the page. */
const page = (title: string, content: Html, codehost?: string): Page => ({
  ...blankPage(title, content),
  name: 'invite',
  formTargets: codehostTargets(codehost),
  referrer: 'same-origin',
})

const nameOf = ({ invite: { namespace } }: ShownInvite): string =>
  visibleLine(namespace.displayName) || `@${namespace.slug}`

/** Whom to ask for another invite. */
const asked = ({ invitedBy, invite: { namespace } }: ShownInvite): Html =>
  invitedBy === undefined
    ? markup`an admin of ${isolated(`@${namespace.slug}`)}`
    : markup`${isolated(visibleLine(invitedBy))}, or another admin of ${isolated(`@${namespace.slug}`)},`

const roles: Readonly<Record<Role, string>> = {
  member: 'a member, who reads its sessions and adds own ones',
  admin: 'an admin, who also decides who is in it',
}

const factsHtml = (shown: ShownInvite, viewer?: NamedUser): Html => {
  const { invite, invitedBy, isForAddress } = shown
  const slug = isolated(`@${invite.namespace.slug}`)
  return markup`<dl class="facts"><dt>Invited by</dt><dd>${invitedBy === undefined ? markup`an admin` : isolated(visibleLine(invitedBy))}</dd>
<dt>To</dt><dd>${isolated(nameOf(shown))} (${slug})</dd>
<dt>As</dt><dd>${roles[invite.role]}</dd>
<dt>Until</dt><dd>${timeHtml(invite.expiresAt)}</dd>
${isForAddress ? markup`<dt>For</dt><dd>one e-mail address only</dd>\n` : none}${viewer ? markup`<dt>You are</dt><dd>${userHtml(viewer)}</dd>\n` : none}</dl>
`
}

/** A link to where a viewer signs in who may already be somebody here. */
const otherWays = ({ code }: ShownInvite, words: string): Html =>
  markup`<p>${words} <a href="${signInPath(invitePath(code))}">Sign in</a></p>\n`

const codehostForm = ({ code }: ShownInvite, codehost: string): Html =>
  markup`<form method="post" action="${CODEHOST_SIGN_IN}"><input type="hidden" name="next" value="${invitePath(code)}">
<button class="btn main">Go on with ${codehost}</button></form>
`

const joinButton = (user: NamedUser): Html =>
  markup`<button class="btn main"><span>Join as ${shortNameHtml(user)}</span></button>`

const tokenField = (token: string): Html => markup`<input type="hidden" name="token" value="${token}">`

const knownForm = ({ code }: ShownInvite, known: NamedUser, token: string): Html =>
  markup`<form method="post" action="${inviteForms.join(code)}">${tokenField(token)}
${joinButton(known)}</form>
<p>This browser has signed you in before. Are you somebody else? Open the link in a browser of your own.</p>
`

const newcomerForm = (shown: ShownInvite, token: string): Html =>
  markup`<form class="form" method="post" action="${inviteForms.join(shown.code)}">${tokenField(token)}
<label>Your name <span class="hint">As the others see it.</span>
<span class="field"><input name="displayName" autocomplete="name" required maxlength="${MOST_IN_NAME}"></span></label>
<div class="row"><button class="btn main">Join as a new person in this browser</button></div></form>
<p>There is no password: by a cookie this browser knows you again, so join in one that only you use. In your settings you can add
other browsers.</p>
${otherWays(shown, 'You have been here before?')}`

const noNewcomers: Readonly<Record<Exclude<NoNewcomers, 'codehost'>, string>> = {
  closed: 'This service lets in no new people: ask its operator. If you have been here before, sign in first.',
  address:
    'This invite is for one e-mail address, which a new person in this browser cannot show to be theirs. Sign in with an account that has it, ' +
    'or ask for an invite without an address.',
}

const waysHtml = (shown: ShownInvite, { known, codehost, newcomers, token }: WaysIn): Html => {
  const byHost = codehost === undefined ? none : codehostForm(shown, codehost)
  const byBrowser = known ? knownForm(shown, known, token) : none
  if (newcomers === 'welcome') return known ? byBrowser : newcomerForm(shown, token)
  const why = newcomers === 'codehost' || known ? none : markup`<p>${noNewcomers[newcomers]}</p>\n`
  return markup`${why}${byBrowser}${byHost}${otherWays(shown, 'You are signed in on another machine?')}`
}

const endings = {
  revoked: { title: 'This invite was taken back', why: 'An admin has revoked it.' },
  expired: { title: 'This invite has expired', why: 'An invite is good for 24 hours.' },
  accepted: { title: 'This invite is used up', why: 'As many people have joined by it as it was for.' },
} as const

const endedPage = (shown: ShownInvite, state: keyof typeof endings): Page => {
  const { slug } = shown.invite.namespace
  const { title, why } = endings[state]
  const onward = shown.isSignedIn
    ? markup`<p><a class="btn" href="${namespacePath(slug)}">What everybody may read of ${isolated(`@${slug}`)}</a></p>\n`
    : markup`<p>You have joined already? <a href="${signInPath(namespacePath(slug))}">Sign in</a></p>\n`
  return page(
    title,
    markup`<p>It was to ${isolated(nameOf(shown))}. ${why} Ask ${asked(shown)} for another one.</p>\n${onward}`,
  )
}

/** `/invite/{code}`: who invites to what, and how to accept. Nothing is accepted before a button is pressed. */
export const invitePage = (shown: ShownInvite, situation: InviteSituation): Page => {
  const { code, invite } = shown
  const { slug } = invite.namespace
  const title = `Join ${nameOf(shown)}`
  switch (situation.is) {
    case 'member':
      return page(
        `You are in ${nameOf(shown)}`,
        markup`<p>You are a member already, so this invite changes nothing.</p>\n<p><a class="btn main" href="${namespacePath(slug)}">Open ${isolated(`@${slug}`)}</a></p>\n`,
      )
    case 'ended':
      return endedPage(shown, situation.state)
    case 'ready':
      return page(
        title,
        markup`${factsHtml(shown, situation.user)}<form method="post" action="${inviteForms.accept(code)}">${joinButton(situation.user)}</form>
<p>Not you? <a href="/settings">Sign out</a>, then open the link again.</p>
`,
      )
    case 'other address':
      return page(
        'This invite is for another address',
        markup`${factsHtml(shown, situation.user)}<p>No account of yours is known to have the e-mail address that this invite is for. Sign in with one that has it, or ask
${asked(shown)} for an invite without an address.</p>
${situation.codehost === undefined ? markup`<p><a class="btn" href="/">All sessions</a></p>\n` : codehostForm(shown, situation.codehost)}`,
        situation.codehost,
      )
    case 'signed out':
      return page(
        title,
        markup`${factsHtml(shown, situation.ways.known)}${waysHtml(shown, situation.ways)}`,
        situation.ways.codehost,
      )
  }
}

/** The page for a code that no invite has. */
export const unknownInvitePage: Page = page(
  'There is no such invite',
  markup`<p>No invite has the code in this address. Perhaps the link was cut on its way: open it again from the message that it came in, or ask
for another invite.</p>
<p><a class="btn" href="/">All sessions</a></p>
`,
)

/** The page when an invite could not be accepted although it is valid. */
export const refusedInvitePage = (code: string, message: string): Page =>
  page(
    'You have not joined',
    markup`<p>${message}</p>\n<p><a class="btn" href="${invitePath(code)}">Open the invite again</a></p>\n`,
  )
