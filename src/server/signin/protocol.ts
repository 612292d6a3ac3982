import * as client from 'openid-client'
import { sha256 } from '../../base/ids.ts'
import { SHORT_TEXT, isLongerThan } from '../../base/texts.ts'
import type { Credential } from '../user/decide.ts'

export const TIMEOUT_SECONDS = 10

/** Options that allow http for a code host on this machine; none for an https address. The settings refuse http for other machines. */
export const allowLoopback = (url: string) => (url.startsWith('http:') ? [client.allowInsecureRequests] : [])

/** How a code host identifies its users: with OpenID Connect, or with plain OAuth 2 and an endpoint for the account. */
export type CodehostProtocol = {
  readonly scope: string
  readonly usesNonce: boolean
  /** The callback URL with the parameters that the library has to check. */
  callbackToCheck(callback: URL): URL
  configuration(): Promise<client.Configuration>
  /** Reads the user's account. `tokens` come from the authorization code grant, which has checked the nonce. */
  fetchCredential(tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>): Promise<Credential>
}

/** An account at a code host. `host` distinguishes it from an account with the same id at another code host. */
type CodehostAccount = {
  readonly host: string
  readonly id: string
  readonly login: string
  /** The name of the person. */
  readonly name?: string | undefined
  readonly avatarUrl?: string | undefined
  readonly email?: string | undefined
  readonly emailVerified: boolean
}

const isHttpsUrl = (text: string | undefined): text is string => URL.parse(text ?? '')?.protocol === 'https:'

/** The name that others may see: an e-mail address is none, nor is the id of an account. */
const displayNameOf = ({ id, login, name, email }: CodehostAccount): Pick<Credential, 'displayName'> => {
  const names = [name, login].map((text) => text?.trim() ?? '')
  const isName = (text: string) => text !== '' && text !== id && text !== email && !text.includes('@')
  const displayName = names.find((text) => isName(text) && !isLongerThan(text, SHORT_TEXT))
  return displayName === undefined ? {} : { displayName }
}

/**
 * The credential of an account. Without a verified address `emailVerified` is set to false, so that a sign-in also updates an identity whose
 * address was verified before.
 */
export const toCredential = (account: CodehostAccount): Credential => {
  const { host, id, login, avatarUrl, email, emailVerified } = account
  const key = sha256(`${host}\0${id}`)
  return {
    type: 'codehost',
    key,
    ...displayNameOf(account),
    profile: {
      providerData: { login, ...(isHttpsUrl(avatarUrl) ? { avatarUrl } : {}) },
      ...(email === undefined ? {} : { email }),
      emailVerified: email !== undefined && emailVerified,
    },
  }
}
