import type { FastifyReply } from 'fastify'
import { type Page, escaped, sendPage } from '../http/page.ts'
import type { Shown } from './review.ts'

const send = (reply: FastifyReply, page: Page) => sendPage(reply.header('cache-control', 'no-store'), page)

/** A name that others have chosen, of either direction of writing. */
const named = (text: string) => `<bdi>${escaped(text)}</bdi>`

const userOf = ({ user, namespaceSlug }: Shown) => {
  const name = named(user?.displayName ?? namespaceSlug ?? user?.id ?? '')
  return user?.displayName !== undefined && namespaceSlug !== undefined ? `${name} (${named(namespaceSlug)})` : name
}

const consequenceOf = (shown: Shown): string => {
  switch (shown.joining) {
    case 'known':
      return `The device will act as your user ${userOf(shown)}.`
    case 'joins':
      return `Your account will be joined to ${userOf(shown)}, the user of this device: from then on you sign in as that user, and share all that it has with the device.`
    case 'new':
      return 'A new user will be made, for your account and this device.'
  }
}

/** Browsers hold a form to its policy through redirects, too. A policy cannot name an IPv6 address. */
const formTargets = (redirectTo: string | undefined): string => {
  if (redirectTo === undefined) return "'self'"
  const { origin, hostname } = new URL(redirectTo)
  return `'self' ${hostname.startsWith('[') ? 'http:' : origin}`
}

export type Question = {
  readonly shown: Shown
  readonly state: string
  readonly confirmation: string
  /** The path that takes the answer. */
  readonly action: string
  readonly redirectTo: string | undefined
}

/** Asks whether this account may be joined to this device. Nothing is, before the answer. */
export const sendQuestionPage = (reply: FastifyReply, question: Question): FastifyReply => {
  const { shown, state, confirmation, action, redirectTo } = question
  const device = shown.deviceName === undefined ? 'a device that gives no name' : named(shown.deviceName)
  const next = redirectTo === undefined ? 'A code is shown next' : `Next, ${escaped(new URL(redirectTo).host)}`
  const leads = redirectTo === undefined ? `${next}, to be entered on the device.` : `${next} on this machine is told.`
  const content = `
<dl><dt>Device, as it calls itself</dt><dd>${device}</dd>
<dt>Your account at the code host</dt><dd>${named(shown.account.login)}</dd></dl>
<p>${consequenceOf(shown)}</p>
<p>${leads}</p>
<p>Did you begin this yourself, on that device? If somebody else sent you here, say no.</p>
<form method="post" action="${escaped(action)}">
<input type="hidden" name="state" value="${escaped(state)}">
<input type="hidden" name="confirmation" value="${escaped(confirmation)}">
<button name="answer" value="yes">Yes, sign in</button><button name="answer" value="no">No</button>
</form>`
  // Without it the browser would not say which origin the answer comes from.
  reply.header('referrer-policy', 'same-origin')
  return send(reply, { title: 'Sign in on this device?', content, formAction: formTargets(redirectTo) })
}

/** Says that nothing has come of it. */
export const sendDeniedPage = (reply: FastifyReply): FastifyReply =>
  send(reply, { title: 'Not signed in', content: '<p>Nothing was joined. You can close this page.</p>' })

/** Shows the code that completes a sign-in, for who cannot be sent back with it. */
export const sendCodePage = (reply: FastifyReply, code: string, deviceName: string | undefined): FastifyReply => {
  const place = deviceName === undefined ? 'where you began to sign in' : `on ${named(deviceName)}`
  const warning = 'Did somebody else send you here? Close this page: with this code they would act in your name.'
  const content = `<p>Enter this code ${place}:</p><p><code>${escaped(code)}</code></p><p>${warning}</p>`
  return send(reply, { title: 'Almost signed in', content })
}

/** Says to a person what went wrong. The status is set already. */
export const sendProblemPage = (reply: FastifyReply, message: string): FastifyReply =>
  send(reply, { title: 'Not signed in', content: `<p>${escaped(message)}</p>` })
