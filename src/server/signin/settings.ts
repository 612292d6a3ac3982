import { z } from 'zod'
import { isLoopback } from '../http/address.ts'
import { type NetworkSettings, isReachedByOthers } from '../http/host.ts'

/** A URL of the code host. Secrets are sent to it, so it has to be https; http is only accepted for this machine. */
const endpointUrl = z
  .string()
  .refine(
    (text) => {
      const { protocol, hostname } = URL.parse(text) ?? {}
      return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname!))
    },
    { error: 'must be an https:// address (http:// only for this machine)' },
  )
  .optional()

/** The environment variables of the code host that users sign in with. If none is set, there is no code host. */
export const signinSettings = {
  CODEHOST_CLIENT_ID: z.string().optional(),
  CODEHOST_CLIENT_SECRET: z.string().optional(),
  CODEHOST_ISSUER: endpointUrl,
  CODEHOST_AUTHORIZE_URL: endpointUrl,
  CODEHOST_TOKEN_URL: endpointUrl,
  CODEHOST_USER_URL: endpointUrl,
  CODEHOST_EMAILS_URL: endpointUrl,
  CODEHOST_SCOPE: z.string().optional(),
}

export type SigninSettings = { readonly [Name in keyof typeof signinSettings]?: z.infer<(typeof signinSettings)[Name]> }

type Issues = { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void }

/** The problem with `PUBLIC_URL`, which the code host redirects browsers to; undefined if there is none. */
const publicUrlProblem = (network: NetworkSettings, given: readonly string[]): string | undefined => {
  if (network.PUBLIC_URL === undefined)
    return isReachedByOthers(network)
      ? 'is missing: set it to the address at which people reach the service, for the redirect of the code host'
      : undefined
  const { protocol, hostname } = new URL(network.PUBLIC_URL)
  if (protocol === 'https:' || isLoopback(hostname)) return undefined
  return (
    `must start with https:// if people sign in with a code host (${given.join(', ')}), because ` +
    'browsers keep the cookies of a sign-in only over https'
  )
}

/** Adds an issue for each missing variable if some are set, and for a `PUBLIC_URL` that cannot be used. */
export const checkSignin = (settings: SigninSettings & NetworkSettings, { addIssue }: Issues): void => {
  const names = Object.keys(signinSettings) as (keyof SigninSettings)[]
  const given = names.filter((name) => settings[name] !== undefined)
  if (given.length === 0) return
  const isOpenId = settings.CODEHOST_ISSUER !== undefined
  const endpoints = isOpenId ? [] : (['CODEHOST_AUTHORIZE_URL', 'CODEHOST_TOKEN_URL', 'CODEHOST_USER_URL'] as const)
  for (const name of ['CODEHOST_CLIENT_ID', 'CODEHOST_CLIENT_SECRET', ...endpoints] as const) {
    const message = isOpenId ? 'is missing' : 'is missing (for an OpenID provider set CODEHOST_ISSUER instead)'
    if (settings[name] === undefined) addIssue({ code: 'custom', path: [name], message })
  }
  const problem = publicUrlProblem(settings, given)
  if (problem !== undefined) addIssue({ code: 'custom', path: ['PUBLIC_URL'], message: problem })
}

/** The URLs of a code host with plain OAuth 2. Without `emailsUrl` no e-mail address counts as verified. */
export type OAuthEndpoints = {
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly userUrl: string
  readonly emailsUrl: string | undefined
}

/** The registration at the code host, and its protocol. */
export type CodehostSettings = {
  readonly clientId: string
  readonly clientSecret: string
  readonly scope: string | undefined
  readonly protocol:
    { readonly is: 'openid'; readonly issuer: string } | { readonly is: 'oauth'; readonly endpoints: OAuthEndpoints }
}

/** The code host of a configuration that `checkSignin` has accepted; undefined if none is configured. */
export const codehostOf = (settings: SigninSettings): CodehostSettings | undefined => {
  const { CODEHOST_CLIENT_ID: clientId, CODEHOST_CLIENT_SECRET: clientSecret, CODEHOST_SCOPE: scope } = settings
  if (clientId === undefined || clientSecret === undefined) return undefined
  const client = { clientId, clientSecret, scope }
  const { CODEHOST_ISSUER: issuer, CODEHOST_AUTHORIZE_URL: authorizeUrl, CODEHOST_TOKEN_URL: tokenUrl } = settings
  const { CODEHOST_USER_URL: userUrl, CODEHOST_EMAILS_URL: emailsUrl } = settings
  if (issuer !== undefined) return { ...client, protocol: { is: 'openid', issuer } }
  const endpoints = { authorizeUrl: authorizeUrl!, tokenUrl: tokenUrl!, userUrl: userUrl!, emailsUrl }
  return { ...client, protocol: { is: 'oauth', endpoints } }
}

/** The name of the code host, as people know it. */
export const hostOf = ({ protocol }: CodehostSettings): string =>
  new URL(protocol.is === 'openid' ? protocol.issuer : protocol.endpoints.authorizeUrl).host
