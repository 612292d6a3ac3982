import type { FastifyReply } from 'fastify'
import type { SignInReview } from '../contract/signin.ts'
import { type HtmlPage, escaped, sendHtmlPage } from '../http/html-page.ts'
import { BROWSER } from './redirect.ts'

const send = (reply: FastifyReply, page: HtmlPage) => sendHtmlPage(reply.header('cache-control', 'no-store'), page)

/** Text of users as HTML, isolated so that right-to-left characters do not reorder the rest of the page. */
const isolated = (text: string) => `<bdi>${escaped(text)}</bdi>`

/** A user, with the namespace that they are at home in: its slug is theirs alone, a display name may be another's. */
export type NamedUser = Pick<SignInReview, 'user' | 'namespaceSlug'>

const userHtml = ({ user, namespaceSlug }: NamedUser) => {
  const name = isolated(user?.displayName ?? namespaceSlug ?? user?.id ?? '')
  return user?.displayName !== undefined && namespaceSlug !== undefined ? `${name} (${isolated(namespaceSlug)})` : name
}

const consequenceHtml = (review: SignInReview): string => {
  switch (review.joining) {
    case 'known':
      return `The device will act as your user ${userHtml(review)}.`
    case 'joins':
      return `Your account will be joined to ${userHtml(review)}, the user of this device: from then on you sign in as that user, and share all that it has with the device.`
    case 'new':
      return 'A new user will be made, for your account and this device.'
  }
}

/**
 * The sources of `form-action` in the page's Content-Security-Policy. It has to include the target of the redirect that
 * follows the form, because browsers apply the policy to it, too. A policy cannot name an IPv6 address.
 */
const formTargets = (redirectTo: string | undefined): string => {
  if (redirectTo === undefined) return "'self'"
  const { origin, hostname } = new URL(redirectTo)
  return `'self' ${hostname.startsWith('[') ? 'http:' : origin}`
}

export type Confirmation = {
  readonly review: SignInReview
  readonly state: string
  readonly confirmation: string
  /** The path that the form posts the answer to. */
  readonly action: string
  readonly redirectTo: string | undefined
}

/** Sends the page that asks the user to confirm the sign-in. */
export const sendConfirmationPage = (reply: FastifyReply, question: Confirmation): FastifyReply => {
  const { review, state, confirmation, action, redirectTo } = question
  const device = review.deviceName === undefined ? 'a device that gives no name' : isolated(review.deviceName)
  const nextStep =
    redirectTo === undefined
      ? 'A code is shown next, to be entered on the device.'
      : `Next, ${escaped(new URL(redirectTo).host)} on this machine is told.`
  const content = `
<dl><dt>Device, as it calls itself</dt><dd>${device}</dd>
<dt>Your account at the code host</dt><dd>${isolated(review.account.login)}</dd></dl>
<p>${consequenceHtml(review)}</p>
<p>${nextStep}</p>
<p>Did you begin this yourself, on that device? If somebody else sent you here, say no.</p>
<form method="post" action="${escaped(action)}">
<input type="hidden" name="state" value="${escaped(state)}">
<input type="hidden" name="confirmation" value="${escaped(confirmation)}">
<button name="answer" value="yes">Yes, sign in</button><button name="answer" value="no">No</button>
</form>`
  // Makes the browser send the origin of the page with the answer, which the route checks.
  reply.header('referrer-policy', 'same-origin')
  return send(reply, { title: 'Sign in on this device?', content, formAction: formTargets(redirectTo) })
}

export type BrowserSignIn = {
  /** Who will be signed in, and who is now, where that is another user. */
  readonly user: NamedUser
  readonly present: NamedUser | undefined
  /** What the device calls itself that has made the code. */
  readonly deviceName: string | undefined
  readonly code: string
}

/** Sends the page where a browser signs in with a one-time code. */
export const sendBrowserPage = (reply: FastifyReply, signIn: BrowserSignIn): FastifyReply => {
  const { user, present, deviceName, code } = signIn
  const device = deviceName === undefined ? 'a device that gives no name' : isolated(deviceName)
  const replaced = present
    ? `<p>This browser is signed in as ${userHtml(present)} now, and will not be any more.</p>`
    : ''
  const content = `
<dl><dt>This browser will be signed in as</dt><dd>${userHtml(user)}</dd>
<dt>Asked for by</dt><dd>${device}</dd></dl>
${replaced}
<p>Did you ask for this yourself, just now? If another person sent you this link, close the page: all that you would do here
would be theirs.</p>
<form method="post" action="${BROWSER}">
<input type="hidden" name="code" value="${escaped(code)}">
<button>Sign in</button>
</form>`
  // The browser sends its origin with the form, which the route checks, and to nobody the address with the code.
  reply.header('referrer-policy', 'strict-origin')
  return send(reply, { title: 'Sign in this browser?', content, formAction: "'self'" })
}

/** Sends the page after a no. */
export const sendDeniedPage = (reply: FastifyReply): FastifyReply =>
  send(reply, { title: 'Not signed in', content: '<p>Nothing was joined. You can close this page.</p>' })

/** Sends the page that shows the exchange code, for a sign-in without `redirectTo`. */
export const sendCodePage = (reply: FastifyReply, code: string, deviceName: string | undefined): FastifyReply => {
  const place = deviceName === undefined ? 'where you began to sign in' : `on ${isolated(deviceName)}`
  const warning = 'Did somebody else send you here? Close this page: with this code they would act in your name.'
  const content = `<p>Enter this code ${place}:</p><p><code>${escaped(code)}</code></p><p>${warning}</p>`
  return send(reply, { title: 'Almost signed in', content })
}

/** Sends an error as a page. The caller sets the status. */
export const sendProblemPage = (reply: FastifyReply, message: string): FastifyReply =>
  send(reply, { title: 'Not signed in', content: `<p>${escaped(message)}</p>` })
