import type { FastifyReply, FastifyRequest } from 'fastify'
import { userId as userIdOf } from '../../base/ids.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import type { NewSession } from '../../contract/sessions.ts'
import { logError, setStatus, toHttpError } from '../http/errors.ts'
import { noteRefusal } from '../http/refusals.ts'
import { isAddressedTo } from '../namespace/invite.ts'
import { type FoundInvite, inviteByCode } from '../namespace/invite-queries.ts'
import { namespaceById } from '../namespace/queries.ts'
import { type InviteSituation, type WaysIn, invitePage, refusedInvitePage, unknownInvitePage } from '../pages/invite.ts'
import { namespacePath, readInvitePath } from '../pages/links.ts'
import { sendPage, wantsPage } from '../pages/page.ts'
import { switchTo } from '../session/decide.ts'
import type { SignInServices } from '../session/services.ts'
import { verifiedEmailsOf } from '../user/queries.ts'
import { ensureBrowserDevice, findBrowser, formTokenOf, knownBrowser } from './browser-device.ts'
import type { SignInRequest } from './handshakes.ts'
import { namedUser } from './named-user.ts'
import { type SigninSettings, codehostOf, hostOf } from './settings.ts'

/** What the pages of invites need. */
export type InviteServices = SignInServices & { readonly config: SigninSettings }

/** The code of the invite whose page a sign-in of a browser leads back to; undefined for any other sign-in. */
export const inviteCodeOf = ({ browserKey, redirectTo }: SignInRequest): string | undefined =>
  browserKey === undefined || redirectTo === undefined ? undefined : readInvitePath(new URL(redirectTo).pathname)

const newcomersOf = (
  { config }: InviteServices,
  { email }: FoundInvite,
  codehost: string | undefined,
): WaysIn['newcomers'] => {
  if (config.SIGN_UP === 'off') return 'closed'
  if (codehost !== undefined) return 'codehost'
  return email === undefined ? 'welcome' : 'address'
}

/** Whether a user may accept, as far as the e-mail address of the invite is concerned. */
const isFor = async ({ reads }: InviteServices, found: FoundInvite, userId: string) =>
  found.email === undefined || isAddressedTo({ email: found.email }, await verifiedEmailsOf(reads, userId))

const signedOut = async (
  service: InviteServices,
  found: FoundInvite,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<InviteSituation> => {
  const settings = codehostOf(service.config)
  const codehost = settings && hostOf(settings)
  const newcomers = newcomersOf(service, found, codehost)
  const browser = await knownBrowser(service, request)
  const known = browser && (await isFor(service, found, browser.userId)) ? browser.named : undefined
  if (!known && newcomers !== 'welcome') return { is: 'signed out', ways: { known, codehost, newcomers, token: '' } }
  const device = browser?.device ?? ensureBrowserDevice(request, reply, service.config)
  return { is: 'signed out', ways: { known, codehost, newcomers, token: formTokenOf(device) } }
}

/** Whether the device of this browser has used the invite already, and its sign-up has broken off then: it may go on. */
const hasBegun = async (service: InviteServices, { namespaceId }: FoundInvite, request: FastifyRequest) => {
  const browser = await findBrowser(service, request)
  if (!browser || browser.userId !== undefined) return false
  return (await namespaceById(service.reads, namespaceId, userIdOf(browser.identityId))).role !== undefined
}

const situationOf = async (
  service: InviteServices,
  found: FoundInvite,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<InviteSituation> => {
  const { userId } = request.caller ?? {}
  const { state } = found.invite
  const { role } = userId === undefined ? {} : await namespaceById(service.reads, found.namespaceId, userId)
  if (role !== undefined) return { is: 'member' }
  const goesOn = state !== 'pending' && userId === undefined && (await hasBegun(service, found, request))
  if (state !== 'pending' && !goesOn) return { is: 'ended', state }
  if (userId === undefined) return signedOut(service, found, request, reply)
  const user = await namedUser(service, userId)
  if (await isFor(service, found, userId)) return { is: 'ready', user }
  const settings = codehostOf(service.config)
  return { is: 'other address', user, codehost: settings && hostOf(settings) }
}

/** The status of an invite's page: 410 for an invite that has ended, 403 if its viewer has no way to accept it. */
const statusOf = (situation: InviteSituation): number => {
  switch (situation.is) {
    case 'ended':
      return 410
    case 'other address':
      return 403
    case 'signed out': {
      const { known, codehost, newcomers } = situation.ways
      return known || codehost !== undefined || newcomers === 'welcome' ? 200 : 403
    }
    case 'ready':
    case 'member':
      return 200
  }
}

/** Sends the page of an invite for its present viewer. It changes nothing. */
export const sendInvite = async (
  service: InviteServices,
  code: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  const found = await inviteByCode(service.reads, code, service.now())
  if (!found) {
    noteRefusal(request, 'invite not known')
    return sendPage(reply.code(404), unknownInvitePage)
  }
  const { invite, invitedBy, email } = found
  const situation = await situationOf(service, found, request, reply)
  const isForAddress = email !== undefined
  const shown = { code, invite, invitedBy, isForAddress, isSignedIn: request.caller !== undefined }
  return sendPage(reply.code(statusOf(situation)), invitePage(shown, situation))
}

/** The codes of errors that are about the invite, or whoever wants to accept it. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  ...(['invite_revoked', 'invite_expired', 'invite_used', 'not_found'] as const),
  ...(['forbidden', 'invalid_request'] as const),
])

/**
 * Sends the page that says why an invite was not accepted, and what to do next.
 * @throws the error itself if it is none of the invite, or the client is no browser
 */
export const sendNotJoined = async (
  service: InviteServices,
  { code, error }: { readonly code: string; readonly error: unknown },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  const problem = toHttpError(error)
  if (!wantsPage(request) || !REFUSALS.has(problem.code)) throw error
  const found = await inviteByCode(service.reads, code, service.now())
  if (found?.invite.state !== 'pending') return sendInvite(service, code, request, reply)
  logError(error, request)
  return sendPage(setStatus(reply, problem), refusedInvitePage(code, problem.message))
}

/**
 * The page of the namespace of an invite, if a sign-in with the code host came from the invite's page and its user is a member now, as a new
 * user is: then the session becomes active there. Undefined otherwise: whoever was a user before decides on the page of the invite.
 */
export const enterInvited = async (
  { reads, now, sessions, write }: InviteServices,
  signIn: SignInRequest,
  { id: sessionId, userId }: NewSession,
  requestId: string,
): Promise<string | undefined> => {
  const code = inviteCodeOf(signIn)
  const found = code === undefined ? undefined : await inviteByCode(reads, code, now())
  if (!found) return undefined
  const { role, slug } = await namespaceById(reads, found.namespaceId, userId)
  if (role === undefined) return undefined
  const context = { actor: { userId, sessionId }, requestId }
  await write(sessions, sessionId, { decide: switchTo(userId, found.namespaceId) }, context)
  return namespacePath(slug)
}
