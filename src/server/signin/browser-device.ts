import { createHmac } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../../base/ids.ts'
import { isSameSecret } from '../../base/same-secret.ts'
import { cookieNameOf } from '../http/auth.ts'
import { cookie, newSecret, secretIn } from '../http/cookies.ts'
import { HttpError } from '../http/http-error.ts'
import type { HttpConfig } from '../http/settings.ts'
import { INVITE_LIFETIME_MS } from '../namespace/invite.ts'
import type { NamedUser } from '../pages/sign-in.ts'
import { findIdentity } from '../session/queries.ts'
import type { SignInServices } from '../session/services.ts'
import type { Credential } from '../user/decide.ts'
import { namedUser } from './named-user.ts'

/** Browsers keep no cookie longer. */
const KEPT_SECONDS = 400 * 24 * 60 * 60
/** As long as the form of an invite's page can be of use: a repeated form has to come from the same device. */
const ASKED_SECONDS = INVITE_LIFETIME_MS / 1_000

const nameOf = (request: FastifyRequest, config: HttpConfig) => `${cookieNameOf(config, request)}-browser`

const set = (request: FastifyRequest, reply: FastifyReply, config: HttpConfig, id: string, seconds: number) =>
  void reply.header('set-cookie', cookie(nameOf(request, config), id, seconds))

/** The id of the device that a browser is, by its cookie. It is a credential; there need not be a user. */
export const readBrowserDevice = (request: FastifyRequest, config: HttpConfig): string | undefined =>
  secretIn(request, nameOf(request, config))

/**
 * The id of the device that a browser is; a new one is set as its cookie. The page with a form sets it, and not the answer to the form, so that
 * a form which is sent twice, or again after a crash, comes from one device.
 */
export const ensureBrowserDevice = (request: FastifyRequest, reply: FastifyReply, config: HttpConfig): string => {
  const id = readBrowserDevice(request, config) ?? newSecret()
  set(request, reply, config, id, ASKED_SECONDS)
  return id
}

/** Keeps the id of a device that has a user, for 400 days from now. */
export const keepBrowserDevice = (request: FastifyRequest, reply: FastifyReply, config: HttpConfig, id: string): void =>
  set(request, reply, config, id, KEPT_SECONDS)

/** Removes the cookie with the id of the device. */
export const forgetBrowserDevice = (request: FastifyRequest, reply: FastifyReply, config: HttpConfig): void =>
  set(request, reply, config, '', 0)

/** What the device that a browser is signs in with. */
export const credentialOf = (id: string): Credential => ({ type: 'device', key: sha256(id), profile: {} })

/** The value of a hidden field that only a page in the browser with this device has. */
export const formTokenOf = (id: string): string => createHmac('sha256', id).update('form').digest('base64url')

/**
 * The device of a browser that sends a form of a page that was shown in it.
 * @throws HttpError forbidden without the cookie that the page has set, or with another one
 */
export const deviceOfForm = (request: FastifyRequest, config: HttpConfig, token: string | undefined): string => {
  const id = readBrowserDevice(request, config)
  if (id !== undefined && token !== undefined && isSameSecret(token, formTokenOf(id))) return id
  throw new HttpError(
    'forbidden',
    'This browser does not have the cookie of the page: open the page again, and allow cookies of this service. Browsers keep them over https:// only',
  )
}

/** The device that a browser is, by its cookie, with its user if it has one; undefined without the cookie. */
export const findBrowser = async (
  { config, reads }: Pick<SignInServices, 'config' | 'reads'>,
  request: FastifyRequest,
) => {
  const device = readBrowserDevice(request, config)
  if (device === undefined) return undefined
  const { id: identityId, user } = await findIdentity(reads, credentialOf(device))
  return { device, identityId, userId: user?.userId }
}

/** A user whom a browser may sign in, as pages name them. */
type KnownBrowser = { readonly device: string; readonly userId: string; readonly named: NamedUser }

/** The user whom a browser may sign in by its cookie; undefined if there is none. */
export const knownBrowser = async (
  service: Pick<SignInServices, 'config' | 'reads'>,
  request: FastifyRequest,
): Promise<KnownBrowser | undefined> => {
  const { device, userId } = (await findBrowser(service, request)) ?? {}
  if (device === undefined || userId === undefined) return undefined
  return { device, userId, named: await namedUser(service, userId) }
}
