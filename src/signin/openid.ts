import * as client from 'openid-client'
import { z } from 'zod'
import type { Provider } from './protocol.ts'
import { credentialOf } from './codehost-account.ts'
import type { CodehostSettings } from './settings.ts'

export const TIMEOUT_SECONDS = 10

const Claims = z.object({
  sub: z.string().min(1),
  preferred_username: z.string().optional().catch(undefined),
  nickname: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  picture: z.string().optional().catch(undefined),
  email: z.string().optional().catch(undefined),
  email_verified: z.boolean().catch(false).default(false),
})

type Settings = CodehostSettings & { provider: { is: 'openid' } | { is: 'oauth' } }

/** http is for a provider on this machine: settings let no other one pass. */
export const allowLoopback = (url: string) => (url.startsWith('http:') ? [client.allowInsecureRequests] : [])

const authenticationFor = (
  secret: string,
  { token_endpoint_auth_methods_supported: methods }: client.ServerMetadata,
) => (methods?.includes('client_secret_post') ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret))

/** An OpenID provider, found by its issuer; what it publishes is asked for once, and again after a failure. */
export const openIdProvider = ({ clientId, clientSecret, scope, provider }: Settings): Provider => {
  const issuer = provider.is === 'openid' ? provider.issuer : ''
  let found: Promise<client.Configuration> | undefined

  const discover = async () => {
    const options = { timeout: TIMEOUT_SECONDS, execute: allowLoopback(issuer) }
    const server = (await client.discovery(new URL(issuer), clientId, undefined, undefined, options)).serverMetadata()
    const configuration = new client.Configuration(
      server,
      clientId,
      clientSecret,
      authenticationFor(clientSecret, server),
    )
    configuration.timeout = TIMEOUT_SECONDS
    for (const allow of allowLoopback(issuer)) allow(configuration)
    return configuration
  }

  const configuration = () => {
    found ??= discover().catch((error: unknown) => {
      found = undefined
      throw error
    })
    return found
  }

  const whoIs: Provider['whoIs'] = async (tokens) => {
    const claims = tokens.claims()!
    const config = await configuration()
    const more = config.serverMetadata().userinfo_endpoint
      ? await client.fetchUserInfo(config, tokens.access_token, claims.sub)
      : {}
    const said = Claims.parse({ ...claims, ...more })
    const login = said.preferred_username ?? said.nickname ?? said.name ?? said.email ?? said.sub
    const { sub: id, picture: avatarUrl, email, email_verified: emailVerified } = said
    return credentialOf({ host: config.serverMetadata().issuer, id, login, avatarUrl, email, emailVerified })
  }

  return {
    scope: scope ?? 'openid profile email',
    usesNonce: true,
    answer: (callback) => callback,
    configuration,
    whoIs,
  }
}
