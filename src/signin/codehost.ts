import * as client from 'openid-client'
import { Unavailable } from '../engine/rejected.ts'
import { HttpError } from '../http/http-error.ts'
import type { Credential } from '../user/decide.ts'
import type { Secrets } from './handshakes.ts'
import { oauthProvider } from './oauth.ts'
import { openIdProvider } from './openid.ts'
import type { CodehostSettings } from './settings.ts'

/** The code host, as sign-ins need it. Both throw Unavailable while it cannot be reached. */
export type Codehost = {
  /** Where somebody is sent to say yes. */
  authorizeUrl(secrets: Secrets, redirectUri: string): Promise<string>
  /**
   * Who has come back, by the code in the address that they came back to.
   * @throws HttpError invalid_request when the code host does not stand by it
   */
  identify(callback: string, secrets: Secrets): Promise<Credential>
}

/** What the provider says about the request itself; anything else that goes wrong is its own trouble. */
const isRefusal = (error: unknown): boolean => {
  if (error instanceof client.ResponseBodyError) return error.status < 500 && error.error !== 'invalid_client'
  if (error instanceof client.AuthorizationResponseError) return true
  const refusals = ['OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED', 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED']
  return error instanceof client.ClientError && refusals.includes(error.code ?? '')
}

/** A fault without what the library hangs on it: whole answers, tokens among them, must not come into the log. */
const inWords = (error: unknown): Error => {
  const { name, message, code, cause } = error as Error & { code?: string; cause?: { code?: string } }
  return new Error([name, message, code, cause?.code].filter((word) => word !== undefined).join(': '))
}

const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof HttpError) throw error
    if (isRefusal(error)) throw new HttpError('invalid_request', 'The code host does not confirm this sign-in')
    throw new Unavailable('the code host cannot be asked', false, inWords(error))
  }
}

/** A code host by its settings, on `openid-client`: state, nonce, issuer, signature and PKCE are checked there. */
export const newCodehost = (settings: CodehostSettings): Codehost => {
  const provider = settings.provider.is === 'openid' ? openIdProvider(settings) : oauthProvider(settings)

  const authorizeUrl = async ({ state, verifier, nonce }: Secrets, redirectUri: string) => {
    const parameters = {
      redirect_uri: redirectUri,
      scope: provider.scope,
      state,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(provider.usesNonce ? { nonce } : {}),
    }
    return guarded(async () => client.buildAuthorizationUrl(await provider.configuration(), parameters).href)
  }

  const identify = (callback: string, { state, verifier, nonce }: Secrets) =>
    guarded(async () => {
      const tokens = await client.authorizationCodeGrant(
        await provider.configuration(),
        provider.answer(new URL(callback)),
        {
          pkceCodeVerifier: verifier,
          expectedState: state,
          ...(provider.usesNonce ? { expectedNonce: nonce, idTokenExpected: true } : {}),
        },
      )
      return provider.whoIs(tokens)
    })

  return { authorizeUrl, identify }
}
