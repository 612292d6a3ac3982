import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { signIns } from '../../contract/signin.ts'
import { setSessionCookie } from '../http/cookies.ts'
import { HttpError } from '../http/http-error.ts'
import { originOf } from '../http/origin.ts'
import { type RouteRequest, route } from '../http/route.ts'
import { sha256 } from '../../base/ids.ts'
import { sendPage } from '../pages/page.ts'
import { confirmationPage } from '../pages/sign-in.ts'
import type { Credential } from '../user/decide.ts'
import { readBrowserCookie, ensureBrowserCookie } from './browser-cookie.ts'
import type { Codehost } from './codehost.ts'
import type { Secrets, SignInRequest } from './handshakes.ts'
import { enterInvited, inviteCodeOf, sendNotJoined } from './invite-answers.ts'
import { sendFailure, sendUnknownSignIn } from './problems.ts'
import { CALLBACK, CONFIRM, withParameters } from './redirect.ts'
import { completeSignIn, reviewSignIn } from './complete-sign-in.ts'
import type { CodehostServices } from './services.ts'

type CallbackRequest = RouteRequest<(typeof signIns)[`GET ${typeof CALLBACK}`]>
type ClaimedSignIn = { readonly signIn: SignInRequest; readonly secrets: Secrets }

const isEqual = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

/**
 * A sign-in that was started on a page of the service has to end in the same browser. Otherwise an attacker could sign in a
 * victim to the attacker's account (login CSRF).
 */
const assertSameBrowser = (
  request: FastifyRequest,
  { browserKey }: SignInRequest,
  config: CodehostServices['config'],
) => {
  if (browserKey === undefined) return
  const cookie = readBrowserCookie(request, config)
  if (cookie !== undefined && isEqual(sha256(cookie), browserKey)) return
  throw new HttpError('forbidden', 'This sign-in was started in another browser: sign in again')
}

/** The route that the code host redirects browsers to. */
export const callbackRoute = (app: FastifyInstance, service: CodehostServices, codehost: Codehost): void => {
  const { config, handshakes, now } = service

  const identify = async (request: CallbackRequest, { signIn, secrets }: ClaimedSignIn) => {
    assertSameBrowser(request, signIn, config)
    const { code, error, state, iss } = request.query
    if (error !== undefined)
      throw new HttpError('forbidden', 'You did not allow the code host to identify you: sign in again, and allow it')
    if (code === undefined)
      throw new HttpError('invalid_request', 'The redirect of the code host has no code: sign in again')
    const parameters = { code, state: state!, ...(iss === undefined ? {} : { iss }) }
    return codehost.identify(withParameters(`${originOf(app, config)}${CALLBACK}`, parameters), secrets)
  }

  /** Asks the user before the account is linked, because another person may have started the sign-in. */
  const askToConfirm = async (
    request: CallbackRequest,
    reply: FastifyReply,
    { signIn, secrets }: ClaimedSignIn,
    credential: Credential,
  ) => {
    const { state } = secrets
    const { joining, review } = await reviewSignIn(service, signIn, credential)
    const browser = ensureBrowserCookie(request, reply, config)
    const confirmation = await handshakes.awaitConfirmation(state, { credential, agreed: joining }, browser)
    const { redirectTo } = signIn
    return sendPage(reply, confirmationPage({ review, state, confirmation, action: CONFIRM, redirectTo }))
  }

  const finish = async (request: CallbackRequest, reply: FastifyReply, claimed: ClaimedSignIn) => {
    const { signIn } = claimed
    service.assertWritable()
    const credential = await identify(request, claimed)
    if (signIn.browserKey === undefined) return askToConfirm(request, reply, claimed, credential)
    // Needs no confirmation, because it was started on a page of the service in this browser.
    const session = await completeSignIn(service, { signIn, credential }, request.id)
    setSessionCookie(reply, config, session, now())
    const joined = await enterInvited(service, signIn, session, request.id)
    return reply.redirect(joined ?? signIn.redirectTo!, 302)
  }

  route(
    app,
    signIns,
    `GET ${CALLBACK}`,
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const claimed = await handshakes.claim(request.query.state ?? '')
      if (!claimed) return sendUnknownSignIn(request, reply)
      const { signIn, secrets } = claimed
      const code = inviteCodeOf(signIn)
      try {
        return await finish(request, reply, claimed).catch((error: unknown) => {
          if (code === undefined) throw error
          return sendNotJoined(service, { code, error }, request, reply)
        })
      } catch (error) {
        return sendFailure({ error, signIn, state: secrets.state }, request, reply)
      }
    },
    { config: { limit: 'sign-in', htmlPage: true } },
  )
}
