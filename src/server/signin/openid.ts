import * as client from 'openid-client'
import { z } from 'zod'
import { type CodehostProtocol, TIMEOUT_SECONDS, allowLoopback, toCredential } from './protocol.ts'
import type { CodehostSettings } from './settings.ts'

const Claims = z.object({
  sub: z.string().min(1),
  preferred_username: z.string().optional().catch(undefined),
  nickname: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  picture: z.string().optional().catch(undefined),
  email: z.string().optional().catch(undefined),
  email_verified: z.boolean().catch(false).default(false),
})

const authenticationFor = (
  secret: string,
  { token_endpoint_auth_methods_supported: methods }: client.ServerMetadata,
) => (methods?.includes('client_secret_post') ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret))

/** OpenID Connect. The issuer's metadata is discovered at first use, and again after a failure. */
export const openIdProtocol = (
  { clientId, clientSecret, scope }: CodehostSettings,
  issuer: string,
): CodehostProtocol => {
  let discovered: Promise<client.Configuration> | undefined

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
    discovered ??= discover().catch((error: unknown) => {
      discovered = undefined
      throw error
    })
    return discovered
  }

  const fetchCredential: CodehostProtocol['fetchCredential'] = async (tokens) => {
    const claims = tokens.claims()!
    const config = await configuration()
    const userInfo = config.serverMetadata().userinfo_endpoint
      ? await client.fetchUserInfo(config, tokens.access_token, claims.sub)
      : {}
    const merged = Claims.parse({ ...claims, ...userInfo })
    const login = merged.preferred_username ?? merged.nickname ?? merged.name ?? merged.email ?? merged.sub
    const { sub: id, name, picture: avatarUrl, email, email_verified: emailVerified } = merged
    return toCredential({ host: config.serverMetadata().issuer, id, login, name, avatarUrl, email, emailVerified })
  }

  return {
    scope: scope ?? 'openid profile email',
    usesNonce: true,
    callbackToCheck: (callback) => callback,
    configuration,
    fetchCredential,
  }
}
