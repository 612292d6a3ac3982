import * as client from 'openid-client'
import { ExplainedUnavailable } from '../../eventstore/engine/rejected.ts'
import { HttpError } from '../http/http-error.ts'
import type { Credential } from '../user/decide.ts'
import type { Secrets } from './handshakes.ts'
import { oauthProtocol } from './oauth.ts'
import { openIdProtocol } from './openid.ts'
import type { CodehostSettings } from './settings.ts'

/** The code host that users sign in with. Both methods throw Unavailable while it cannot be reached. */
export type Codehost = {
  /** The URL of the code host's page where the user grants access. */
  authorizeUrl(secrets: Secrets, redirectUri: string): Promise<string>
  /**
   * The account of the user, from the URL of the code host's redirect, which contains the authorization code.
   * @throws HttpError invalid_request if the code host refuses the code, or its response is invalid
   */
  identify(callback: string, secrets: Secrets): Promise<Credential>
}

/** Whether an error means that the code host refuses this sign-in. All others mean that the code host does not work. */
const isRefusal = (error: unknown): boolean => {
  if (error instanceof client.ResponseBodyError) return error.status < 500 && error.error !== 'invalid_client'
  if (error instanceof client.AuthorizationResponseError) return true
  const refusals = ['OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED', 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED']
  return error instanceof client.ClientError && refusals.includes(error.code ?? '')
}

/** The error without its properties, which contain whole responses with tokens that must not be logged. */
const withoutResponse = (error: unknown): Error => {
  const { name, message, code, cause } = error as Error & { code?: string; cause?: { code?: string } }
  return new Error([name, message, code, cause?.code].filter((word) => word !== undefined).join(': '))
}

const translateErrors = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof HttpError) throw error
    if (isRefusal(error))
      throw new HttpError('invalid_request', 'The code host has refused this sign-in: sign in again')
    throw new ExplainedUnavailable('The code host cannot be reached: try again later', false, withoutResponse(error))
  }
}

/** The code host of the settings. The library `openid-client` checks state, nonce, issuer, signature and PKCE. */
export const newCodehost = (settings: CodehostSettings): Codehost => {
  const { protocol: configured } = settings
  const protocol =
    configured.is === 'openid'
      ? openIdProtocol(settings, configured.issuer)
      : oauthProtocol(settings, configured.endpoints)

  const authorizeUrl = async ({ state, verifier, nonce }: Secrets, redirectUri: string) => {
    const parameters = {
      redirect_uri: redirectUri,
      scope: protocol.scope,
      state,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(protocol.usesNonce ? { nonce } : {}),
    }
    return translateErrors(async () => client.buildAuthorizationUrl(await protocol.configuration(), parameters).href)
  }

  const identify = (callback: string, { state, verifier, nonce }: Secrets) =>
    translateErrors(async () => {
      const tokens = await client.authorizationCodeGrant(
        await protocol.configuration(),
        protocol.callbackToCheck(new URL(callback)),
        {
          pkceCodeVerifier: verifier,
          expectedState: state,
          ...(protocol.usesNonce ? { expectedNonce: nonce, idTokenExpected: true } : {}),
        },
      )
      return protocol.fetchCredential(tokens)
    })

  return { authorizeUrl, identify }
}
