import { hostname } from 'node:os'
import { command } from '../../cli/command-name.ts'
import type { Api } from '../api/client.ts'
import { UsageError } from '../../cli/exit.ts'
import { RequestFailed, hasStatus } from '../api/errors.ts'
import { type LoggedIn, deviceOf, keepLogin } from './device-login.ts'
import { joiningInWords } from './joining.ts'
import { type Loopback, openLoopback } from './loopback-receiver.ts'
import { signInAddress } from './sign-in-url.ts'

type Codes = { readonly state: string; readonly exchangeCode: string }
type NewApi = (server: string, token?: string) => Api

/** The person at the keyboard. */
export type Person = {
  /** Shows an address to sign in at, and opens it where that is possible. */
  readonly send: (address: string) => void
  /** Asks for what the browser shows at the end; undefined when nobody can be asked. */
  readonly paste: ((signal: AbortSignal) => Promise<string>) | undefined
  /** Says what will be joined, and asks whether it shall; undefined when nobody can be asked. */
  readonly agree: ((joining: string) => Promise<boolean>) | undefined
}

export type CodehostLogin = {
  readonly config: string
  readonly server: string
  /** The namespace that the session is for; the user's own without it. */
  readonly slug?: string | undefined
  /** The code of an invite, for a new user. */
  readonly inviteCode?: string | undefined
  /** Whether the browser is on this machine, and can be sent back to it. */
  readonly isLocal: boolean
  readonly person: Person
}

/** The code in what somebody has copied: the code itself, or the address that holds it. */
export const codeIn = (text: string): string => {
  const trimmed = text.trim()
  return URL.parse(trimmed)?.searchParams.get('exchangeCode') ?? trimmed
}

const namespaceIdOf = async (api: Api, slug: string): Promise<string> => {
  try {
    return (await api.namespace(slug.trim().toLowerCase())).id
  } catch (error) {
    if (hasStatus(error, 404)) throw new UsageError(`There is no namespace "${slug}".`)
    throw error
  }
}

const unasked = 'Nobody can be asked which account this device joins: run this in a terminal, or say yes with --yes'

/** Says which account and user the code is for, and goes on only with a yes: a code may be anybody's. */
const assertAgreed = async (api: Api, codes: Codes, { server, person }: CodehostLogin) => {
  const review = await api.reviewSignIn(codes)
  if (await person.agree!(joiningInWords(review, server, hostname()))) return
  throw new RequestFailed('nothing was joined, and you are not logged in')
}

/** The first code that comes in, by the browser or by hand; the other way is given up then. */
const receive = async (state: string, loopback: Loopback | undefined, { paste }: Person): Promise<string> => {
  if (!loopback && !paste) throw new UsageError('There is nobody to paste the code: run this in a terminal')
  const stop = new AbortController()
  const ways = [...(loopback ? [loopback.code(state)] : []), ...(paste ? [paste(stop.signal).then(codeIn)] : [])]
  try {
    return await Promise.race(ways)
  } finally {
    stop.abort()
  }
}

/**
 * Logs in as somebody at the server's code host, in a browser. Throws UsageError and RequestFailed.
 */
export const logInWithCodehost = async (login: CodehostLogin, newApi: NewApi): Promise<LoggedIn> => {
  const { config, server, slug, inviteCode, isLocal, person } = login
  if (!person.agree) throw new UsageError(unasked)
  const [api, deviceId] = [newApi(server), await deviceOf(config, server)]
  const namespace = slug === undefined ? {} : { namespaceId: await namespaceIdOf(api, slug) }
  const loopback = isLocal ? await openLoopback() : undefined
  try {
    const redirect = loopback ? { redirectTo: loopback.url } : {}
    const invite = inviteCode === undefined ? {} : { inviteCode }
    const device = { deviceId, deviceName: hostname(), ...namespace, ...invite }
    const { state, authorizeUrl } = await api.startSignIn({ ...device, ...redirect }).catch(withoutCodehost(server))
    person.send(signInAddress(authorizeUrl))
    const codes = { state, exchangeCode: await receive(state, loopback, person) }
    await assertAgreed(api, codes, login)
    return await keepLogin(config, server, deviceId, await api.completeSignIn(codes), newApi)
  } finally {
    loopback?.close()
  }
}

const withoutCodehost =
  (server: string) =>
  (error: unknown): never => {
    if (!hasStatus(error, 404)) throw error
    throw new RequestFailed(`${server} has no code host to sign in with: use ${command} login`, { status: 404 })
  }
