import type { SignInReview } from '../../contract/signin.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { openHtml } from './errors.ts'
import { type Page, blankPage } from './page.ts'

/** Text of users, isolated so that right-to-left characters do not reorder the rest of the page. */
export const isolated = (text: string): Html => markup`<bdi>${text}</bdi>`

/** A user, with the slug of their own namespace: the slug is unique, a display name is not. */
export type NamedUser = Pick<SignInReview, 'user' | 'namespaceSlug'>

export const userHtml = ({ user, namespaceSlug }: NamedUser): Html => {
  const name = isolated(user?.displayName ?? namespaceSlug ?? user?.id ?? '')
  return user?.displayName !== undefined && namespaceSlug !== undefined
    ? markup`${name} (${isolated(namespaceSlug)})`
    : name
}

/** The name of a user for a button. */
export const shortNameHtml = ({ user, namespaceSlug }: NamedUser): Html =>
  isolated(visibleLine(user?.displayName ?? '') || `@${namespaceSlug ?? ''}`)

const deviceHtml = (name: string | undefined): Html =>
  name === undefined ? markup`a device that gives no name` : isolated(name)

const consequenceHtml = (review: SignInReview): Html => {
  switch (review.joining) {
    case 'known':
      return markup`The device will act as your user ${userHtml(review)}.`
    case 'joins':
      return markup`Your account will be joined to ${userHtml(review)}, the user of this device: from then on you sign in as that user, and share all that it has with the device.`
    case 'new':
      return markup`A new user will be made, for your account and this device.`
  }
}

/**
 * The sources of `form-action`. They include the target of the redirect that follows the form, because browsers apply the policy to
 * it, too. A policy cannot name an IPv6 address.
 */
const formTargetsOf = (redirectTo: string | undefined): string => {
  if (redirectTo === undefined) return "'self'"
  const { origin, hostname } = new URL(redirectTo)
  return `'self' ${hostname.startsWith('[') ? 'http:' : origin}`
}

type Confirmation = {
  readonly review: SignInReview
  readonly state: string
  readonly confirmation: string
  /** The path that the form posts the answer to. */
  readonly action: string
  readonly redirectTo: string | undefined
}

/** Asks the user to confirm a sign-in with a code host. */
export const confirmationPage = ({ review, state, confirmation, action, redirectTo }: Confirmation): Page => {
  const next =
    redirectTo === undefined
      ? 'A code is shown next, to be entered on the device.'
      : `Next, ${new URL(redirectTo).host} on this machine is told.`
  const content = markup`<dl class="facts"><dt>Device, as it calls itself</dt><dd>${deviceHtml(review.deviceName)}</dd>
<dt>Your account at the code host</dt><dd>${isolated(review.account.login)}</dd></dl>
<p>${consequenceHtml(review)}</p>
<p>${next}</p>
<p>Did you begin this yourself, on that device? If somebody else sent you here, say no.</p>
<form class="row" method="post" action="${action}">
<input type="hidden" name="state" value="${state}">
<input type="hidden" name="confirmation" value="${confirmation}">
<button class="btn main" name="answer" value="yes">Yes, sign in</button><button class="btn" name="answer" value="no">No</button>
</form>
`
  // The route of the form checks the origin of the page.
  return {
    ...blankPage('Sign in on this device?', content),
    formTargets: formTargetsOf(redirectTo),
    referrer: 'same-origin',
  }
}

type BrowserSignIn = {
  /** The user who will be signed in. */
  readonly user: NamedUser
  /** The user who is signed in now, if it is another one. */
  readonly present: NamedUser | undefined
  /** The name of the device that requested the code. */
  readonly deviceName: string | undefined
  readonly code: string
  /** The path that the form posts the code to. */
  readonly action: string
  /** If the browser becomes a device of the user, which signs in again later: the value of the hidden field of its form. */
  readonly token?: string
}

/** Asks the user to sign in a browser with a one-time code. */
export const browserPage = ({ user, present, deviceName, code, action, token }: BrowserSignIn): Page => {
  const replaced = present
    ? markup`<p>This browser is signed in as ${userHtml(present)} now, and will not be any more.</p>\n`
    : none
  const content = markup`<dl class="facts"><dt>This browser will be signed in as</dt><dd>${userHtml(user)}</dd>
<dt>Asked for by</dt><dd>${deviceHtml(deviceName)}</dd></dl>
${replaced}<p>Did you ask for this yourself, just now? If another person sent you this link, close the page: all that you would do here
would be theirs.</p>
${
  token === undefined
    ? none
    : markup`<p>A cookie will know you here again after you have signed out. Your settings list this browser among your identities, where you can
remove it.</p>\n`
}<form method="post" action="${action}">
<input type="hidden" name="code" value="${code}">
${token === undefined ? none : markup`<input type="hidden" name="token" value="${token}">\n`}<button class="btn main">Sign in</button>
</form>
`
  // The route of the form checks the origin of the page. `strict-origin` sends nothing else of the page's address, which holds the code.
  return { ...blankPage('Sign in this browser?', content), referrer: 'strict-origin' }
}

/** The page after the user has answered no. */
export const deniedPage: Page = blankPage(
  'Not signed in',
  markup`<p>Nothing was joined. You can close this page.</p>\n`,
)

/** Shows the exchange code of a sign-in without `redirectTo`. */
export const codePage = (code: string, deviceName: string | undefined): Page => {
  const place = deviceName === undefined ? 'where you began to sign in' : markup`on ${isolated(deviceName)}`
  const content = markup`<p>Enter this code ${place}:</p>
<pre><code>${code}</code></pre>
<p>Did somebody else send you here? Close this page: with this code they would act in your name.</p>
`
  return blankPage('Almost signed in', content)
}

/** An error of a sign-in. */
export const problemPage = (message: string): Page =>
  blankPage('Not signed in', markup`<p>${message}</p>\n<p><a class="btn" href="${SIGN_IN}">Sign in</a></p>\n`)

/** The page for a new person at the code host who has come without an invite, where the service asks for one. */
export const needsInvitePage: Page = blankPage(
  'You need an invite',
  markup`<p>This service lets in new people only by an invite. Open the link of yours, which ends in <code>/invite/</code> and nine characters, and
sign in there. If you have none, ask a member of the team.</p>
<p>You have been here before, with another account? <a href="/signin">Sign in</a></p>
`,
)

/** An error of a sign-in by a link that another browser of the user has made. */
export const joinProblemPage = (message: string): Page =>
  blankPage(
    'Not signed in',
    markup`<p>${message}</p>
<p>The settings of a browser that is signed in make another link.</p>
<p><a class="btn" href="${SIGN_IN}">Sign in in another way</a></p>
`,
  )

/** The paths of the page where a browser signs in, and of its forms. */
export const SIGN_IN = '/signin'
export const CODEHOST_SIGN_IN = '/signin/codehost'
export const KNOWN_SIGN_IN = '/signin/browser'

/** The path of the page behind the link by which another browser becomes a device of the same user. */
export const JOIN = '/signin/join'

/** The form by which a browser signs in the user whom it belongs to. */
const knownForm = (known: NamedUser, next: string): Html =>
  markup`<form method="post" action="${KNOWN_SIGN_IN}"><input type="hidden" name="next" value="${next}">
<button class="btn main"><span>Go on as ${shortNameHtml(known)}</span></button></form>
`

/** The page behind such a link in a browser that is a device of that user already. */
export const knownPage = (user: NamedUser): Page => ({
  ...blankPage('This browser is yours already', markup`<p>It needs no link.</p>\n${knownForm(user, '/')}`),
  referrer: 'strict-origin',
})

/** The sources of `form-action` of a page with the form of the code host, if there is one: the form leads there. */
export const codehostTargets = (codehost: string | undefined): string =>
  codehost === undefined ? "'self'" : `'self' https: http://localhost:* http://127.0.0.1:*`

type WaysToSignIn = {
  /** The user whom this browser belongs to. */
  readonly known: NamedUser | undefined
  /** The host name of the code host; undefined without one. */
  readonly codehost: string | undefined
  /** The path of the page that the sign-in leads to. */
  readonly next: string
  /** The address of the service as commands may name it. */
  readonly service: string | undefined
  /** The address that the viewer has reached. */
  readonly origin: string
}

const waysHtml = ({ known, codehost, next, service, origin }: WaysToSignIn): Html => markup`${
  known ? markup`${knownForm(known, next)}<p>This browser has signed you in before. Or:</p>\n` : none
}${
  codehost === undefined
    ? markup`<p>On your machine, where you are logged in already, this opens a page here that signs in your browser:</p>\n`
    : markup`<form method="post" action="${CODEHOST_SIGN_IN}"><input type="hidden" name="next" value="${next}">
<button class="btn main">Go on with ${codehost}</button></form>
<p>Or with a machine on which you are logged in already. This opens a page here that signs in your browser:</p>\n`
}${openHtml({ service, origin }, next)}
<p>It is good for a minute. If the browser is on another machine, the same command with <code>--no-browser</code> at its end prints the
address to open there.</p>
<p>You are signed in with another browser? Its settings make a link for this one. You have an invite? Open its link here.</p>
<p>You have not logged in anywhere yet? <a href="/help">How to begin</a></p>
`

/** `/signin`: the ways to sign in a browser. */
export const signInPage = (ways: WaysToSignIn): Page => ({
  ...blankPage('Sign in', waysHtml(ways)),
  name: 'sign-in',
  formTargets: codehostTargets(ways.codehost),
  // The routes of the forms check the origin of the page.
  referrer: 'same-origin',
})
