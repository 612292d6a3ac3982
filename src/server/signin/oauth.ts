import * as client from 'openid-client'
import { z } from 'zod'
import { HttpError } from '../http/http-error.ts'
import { type CodehostProtocol, TIMEOUT_SECONDS, allowLoopback, toCredential } from './protocol.ts'
import type { CodehostSettings, OAuthEndpoints } from './settings.ts'

const User = z.object({
  id: z.union([z.int(), z.string().min(1)]),
  login: z.string().optional().catch(undefined),
  username: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  avatar_url: z.string().optional().catch(undefined),
  email: z.string().optional().catch(undefined),
})
type User = z.infer<typeof User>

const Emails = z.array(
  z.object({ email: z.string(), verified: z.boolean().default(false), primary: z.boolean().default(false) }),
)

/** The primary address among the verified ones, otherwise the first verified one, otherwise one that is not verified. */
const bestEmail = (emails: z.infer<typeof Emails>) => {
  const verified = emails.filter((email) => email.verified)
  return verified.find(({ primary }) => primary) ?? verified[0] ?? emails.find(({ primary }) => primary) ?? emails[0]
}

const newConfiguration = ({ clientId, clientSecret }: CodehostSettings, { authorizeUrl, tokenUrl }: OAuthEndpoints) => {
  const issuer = new URL(authorizeUrl).origin
  const server = { issuer, authorization_endpoint: authorizeUrl, token_endpoint: tokenUrl }
  const configuration = new client.Configuration(server, clientId, clientSecret, client.ClientSecretPost(clientSecret))
  configuration.timeout = TIMEOUT_SECONDS
  for (const allow of [authorizeUrl, tokenUrl].flatMap(allowLoopback)) allow(configuration)
  return configuration
}

/** Plain OAuth 2, with an endpoint that returns the user's account, as GitHub has it. */
export const oauthProtocol = (settings: CodehostSettings, endpoints: OAuthEndpoints): CodehostProtocol => {
  const configuration = newConfiguration(settings, endpoints)

  const get = async (url: string, token: string): Promise<unknown> => {
    const headers = new Headers({ accept: 'application/json' })
    const response = await client.fetchProtectedResource(configuration, token, new URL(url), 'GET', null, headers)
    if (response.ok) return response.json()
    if (response.status >= 500) throw new Error(`${url} answered with status ${response.status}`)
    throw new HttpError('invalid_request', 'The code host has refused to identify you: sign in again')
  }

  const emailOf = async ({ email }: User, token: string) => {
    if (endpoints.emailsUrl === undefined) return { email, emailVerified: false }
    const best = bestEmail(Emails.parse(await get(endpoints.emailsUrl, token)))
    return { email: best?.email ?? email, emailVerified: best?.verified ?? false }
  }

  const fetchCredential: CodehostProtocol['fetchCredential'] = async ({ access_token: token }) => {
    const user = User.parse(await get(endpoints.userUrl, token))
    const [id, host] = [String(user.id), new URL(endpoints.authorizeUrl).origin]
    const login = user.login ?? user.username ?? id
    const { name, avatar_url: avatarUrl } = user
    return toCredential({ host, id, login, name, avatarUrl, ...(await emailOf(user, token)) })
  }

  // The `iss` of a code host with plain OAuth 2 is not configured, so it cannot be checked.
  const callbackToCheck = (callback: URL) => {
    callback.searchParams.delete('iss')
    return callback
  }

  const scope = settings.scope ?? 'read:user user:email'
  return { scope, usesNonce: false, callbackToCheck, configuration: async () => configuration, fetchCredential }
}
