import * as client from 'openid-client'
import { z } from 'zod'
import { HttpError } from '../http/http-error.ts'
import type { Provider } from './protocol.ts'
import { TIMEOUT_SECONDS, allowLoopback } from './openid.ts'
import { credentialOf } from './codehost-account.ts'
import type { CodehostSettings } from './settings.ts'

const User = z.object({
  id: z.union([z.int(), z.string().min(1)]),
  login: z.string().optional().catch(undefined),
  username: z.string().optional().catch(undefined),
  avatar_url: z.string().optional().catch(undefined),
  email: z.string().optional().catch(undefined),
})
type User = z.infer<typeof User>

const Emails = z.array(
  z.object({ email: z.string(), verified: z.boolean().default(false), primary: z.boolean().default(false) }),
)

/** The verified address that comes first, the primary one if it is among them; else one that is not verified. */
const bestOf = (emails: z.infer<typeof Emails>) => {
  const verified = emails.filter((one) => one.verified)
  return verified.find((one) => one.primary) ?? verified[0] ?? emails.find((one) => one.primary) ?? emails[0]
}

type Endpoints = Extract<CodehostSettings['provider'], { is: 'oauth' }>

const newConfiguration = ({ clientId, clientSecret }: CodehostSettings, { authorizeUrl, tokenUrl }: Endpoints) => {
  const issuer = new URL(authorizeUrl).origin
  const server = { issuer, authorization_endpoint: authorizeUrl, token_endpoint: tokenUrl }
  const configuration = new client.Configuration(server, clientId, clientSecret, client.ClientSecretPost(clientSecret))
  configuration.timeout = TIMEOUT_SECONDS
  for (const allow of [authorizeUrl, tokenUrl].flatMap(allowLoopback)) allow(configuration)
  return configuration
}

/** A provider of plain OAuth 2 that answers who somebody is at an address of its own, as GitHub does. */
export const oauthProvider = (settings: CodehostSettings): Provider => {
  const endpoints = settings.provider as Endpoints
  const configuration = newConfiguration(settings, endpoints)

  const get = async (url: string, token: string): Promise<unknown> => {
    const headers = new Headers({ accept: 'application/json' })
    const response = await client.fetchProtectedResource(configuration, token, new URL(url), 'GET', null, headers)
    if (response.ok) return response.json()
    if (response.status >= 500) throw new Error(`${url} answers ${response.status}`)
    throw new HttpError('invalid_request', 'The code host does not say who you are')
  }

  const emailOf = async ({ email }: User, token: string) => {
    if (endpoints.emailsUrl === undefined) return { email, emailVerified: false }
    const best = bestOf(Emails.parse(await get(endpoints.emailsUrl, token)))
    return { email: best?.email ?? email, emailVerified: best?.verified ?? false }
  }

  const whoIs: Provider['whoIs'] = async ({ access_token: token }) => {
    const user = User.parse(await get(endpoints.userUrl, token))
    const [id, host] = [String(user.id), new URL(endpoints.authorizeUrl).origin]
    const login = user.login ?? user.username ?? id
    return credentialOf({ host, id, login, avatarUrl: user.avatar_url, ...(await emailOf(user, token)) })
  }

  // What a provider of plain OAuth 2 calls itself in `iss` is not known beforehand.
  const answer = (callback: URL) => {
    callback.searchParams.delete('iss')
    return callback
  }

  const scope = settings.scope ?? 'read:user user:email'
  return { scope, usesNonce: false, answer, configuration: async () => configuration, whoIs }
}
