import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

/** An account at the provider. */
export type Account = {
  readonly id: string
  readonly login: string
  /** The name of the person. */
  readonly name?: string
  readonly email?: string
  readonly emailVerified?: boolean
}

/** A real OpenID provider on a real socket, which also has the addresses of GitHub. */
export type TestProvider = {
  readonly url: string
  /** The account that is signed in there. */
  account: Account
  /** Whether that person agrees to sign in. */
  consents: boolean
  /** Answers 500 to everything. */
  isDown: boolean
  /** Answers 200 with an error in the place of a token, as GitHub does. */
  refusesAsGithub: boolean
  close(): Promise<void>
}

export const CLIENT = { id: 'tracebook', secret: 'a secret that only the two of us know' }

const newProvider = (issuer: string, redirectUri: string, world: TestProvider) => {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    clientAuthMethods: ['client_secret_post'],
    pkce: { required: () => true },
    cookies: { keys: ['for tests'] },
    claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'picture'], email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: () => {
        const { login, name, email, emailVerified } = world.account
        const claims = {
          preferred_username: login,
          ...(name === undefined ? {} : { name }),
          picture: `https://pictures.example/${login}.png`,
        }
        return { sub: accountId, ...claims, ...(email ? { email, email_verified: emailVerified ?? false } : {}) }
      },
    }),
  })
  return provider
}

const interact = async (
  provider: Provider,
  world: TestProvider,
  request: IncomingMessage,
  response: ServerResponse,
) => {
  const { prompt } = await provider.interactionDetails(request, response)
  if (!world.consents) return provider.interactionFinished(request, response, { error: 'access_denied' })
  const { id: accountId } = world.account
  if (prompt.name === 'login') return provider.interactionFinished(request, response, { login: { accountId } })
  const grant = new provider.Grant({ accountId, clientId: CLIENT.id })
  grant.addOIDCScope('openid profile email')
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}

/** `GET /api/user` and `/api/emails`, for requests with a token. */
const api = async (provider: Provider, { account }: TestProvider, request: IncomingMessage) => {
  const token = request.headers.authorization?.replace(/^bearer /i, '') ?? ''
  if (!(await provider.AccessToken.find(token))) return undefined
  const { id, login, name = null, email, emailVerified: verified = false } = account
  if (request.url === '/api/user')
    return { id: Number(id), login, name, avatar_url: `https://pictures.example/${login}.png` }
  const other = { email: 'old@example.org', verified: false, primary: false }
  return email === undefined ? [] : [other, { email, verified, primary: true }]
}

const sendJson = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** Starts a provider that redirects to `redirectUri`. */
export const startProvider = async (redirectUri: string): Promise<TestProvider> => {
  const server = createServer(async (request, response) => {
    if (world.isDown) return void sendJson(response, 500, { error: 'server_error' })
    if (request.url?.startsWith('/interaction/')) return interact(provider, world, request, response)
    if (request.url === '/token' && world.refusesAsGithub)
      return void sendJson(response, 200, { error: 'bad_verification_code' })
    if (request.url?.startsWith('/api/')) {
      const answer = await api(provider, world, request)
      return void sendJson(response, answer ? 200 : 401, answer ?? {})
    }
    return provider.callback()(request, response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => new Promise<void>((closed) => (server.close(() => closed()), server.closeAllConnections()))
  const account = { id: '1', login: 'ada' }
  const world: TestProvider = { url, account, consents: true, isDown: false, refusesAsGithub: false, close }
  const provider = newProvider(url, redirectUri, world)
  return world
}
