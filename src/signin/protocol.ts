import * as client from 'openid-client'
import type { Credential } from '../user/decide.ts'

export const TIMEOUT_SECONDS = 10

/** Allows http for a code host on this machine. The settings refuse http for all others. */
export const allowLoopback = (url: string) => (url.startsWith('http:') ? [client.allowInsecureRequests] : [])

/** How a code host identifies its users: with OpenID Connect, or with plain OAuth 2 and an endpoint for the user. */
export type CodehostProtocol = {
  readonly scope: string
  readonly usesNonce: boolean
  /** The callback URL with the parameters that the library is to check. */
  callbackToCheck(callback: URL): URL
  configuration(): Promise<client.Configuration>
  /** Reads the user's account. `tokens` come from the authorization code grant, which has checked the nonce. */
  fetchCredential(tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>): Promise<Credential>
}
