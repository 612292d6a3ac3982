import { z } from 'zod'
import { isLoopback } from '../http/loopback.ts'
import { type Place, isReachedByOthers } from '../http/reach.ts'

/** What carries secrets goes by https; plain http is for a provider on this machine. */
const endpoint = z
  .string()
  .refine(
    (text) => {
      const { protocol, hostname } = URL.parse(text) ?? {}
      return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname!))
    },
    { error: 'must be an https:// address (http:// only for this machine)' },
  )
  .optional()

/** The code host that people sign in with; without an id there is none. */
export const signinSettings = {
  CODEHOST_CLIENT_ID: z.string().optional(),
  CODEHOST_CLIENT_SECRET: z.string().optional(),
  CODEHOST_ISSUER: endpoint,
  CODEHOST_AUTHORIZE_URL: endpoint,
  CODEHOST_TOKEN_URL: endpoint,
  CODEHOST_USER_URL: endpoint,
  CODEHOST_EMAILS_URL: endpoint,
  CODEHOST_SCOPE: z.string().optional(),
}

export type SigninSettings = { readonly [Name in keyof typeof signinSettings]?: z.infer<(typeof signinSettings)[Name]> }

type Issues = { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void }

/** What is wrong with the address that the code host sends people back to. */
const publicUrlProblem = (place: Place, given: readonly string[]): string | undefined => {
  if (place.PUBLIC_URL === undefined)
    return isReachedByOthers(place) ? 'is missing: the code host must know where to send people back to' : undefined
  const { protocol, hostname } = new URL(place.PUBLIC_URL)
  if (protocol === 'https:' || isLoopback(hostname)) return undefined
  return (
    `must start with https:// where people sign in with a code host (${given.join(', ')}): ` +
    'browsers keep the cookies of a sign-in for https only'
  )
}

/** What is missing of a provider that is configured in part: half a configuration is a mistake, not an absent one. */
export const checkSignin = (settings: SigninSettings & Place, { addIssue }: Issues): void => {
  const names = Object.keys(signinSettings) as (keyof SigninSettings)[]
  const given = names.filter((name) => settings[name] !== undefined)
  if (given.length === 0) return
  const openId = settings.CODEHOST_ISSUER !== undefined
  const endpoints = openId ? [] : (['CODEHOST_AUTHORIZE_URL', 'CODEHOST_TOKEN_URL', 'CODEHOST_USER_URL'] as const)
  for (const name of ['CODEHOST_CLIENT_ID', 'CODEHOST_CLIENT_SECRET', ...endpoints] as const) {
    const message = openId ? 'is missing' : 'is missing (CODEHOST_ISSUER alone is enough for an OpenID provider)'
    if (settings[name] === undefined) addIssue({ code: 'custom', path: [name], message })
  }
  const problem = publicUrlProblem(settings, given)
  if (problem !== undefined) addIssue({ code: 'custom', path: ['PUBLIC_URL'], message: problem })
}

/** How to reach the code host; `issuer` for OpenID, the three addresses for plain OAuth 2. */
export type CodehostSettings = {
  readonly clientId: string
  readonly clientSecret: string
  readonly scope: string | undefined
  readonly provider:
    | { readonly is: 'openid'; readonly issuer: string }
    | {
        readonly is: 'oauth'
        readonly authorizeUrl: string
        readonly tokenUrl: string
        readonly userUrl: string
        readonly emailsUrl: string | undefined
      }
}

/** The code host of a configuration that `checkSignin` has passed; undefined when none is configured. */
export const codehostOf = (settings: SigninSettings): CodehostSettings | undefined => {
  const { CODEHOST_CLIENT_ID: clientId, CODEHOST_CLIENT_SECRET: clientSecret, CODEHOST_SCOPE: scope } = settings
  if (clientId === undefined || clientSecret === undefined) return undefined
  const client = { clientId, clientSecret, scope }
  const { CODEHOST_ISSUER: issuer, CODEHOST_AUTHORIZE_URL: authorizeUrl, CODEHOST_TOKEN_URL: tokenUrl } = settings
  const { CODEHOST_USER_URL: userUrl, CODEHOST_EMAILS_URL: emailsUrl } = settings
  if (issuer !== undefined) return { ...client, provider: { is: 'openid', issuer } }
  return {
    ...client,
    provider: { is: 'oauth', authorizeUrl: authorizeUrl!, tokenUrl: tokenUrl!, userUrl: userUrl!, emailsUrl },
  }
}
