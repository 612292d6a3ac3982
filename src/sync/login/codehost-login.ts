import { hostname } from 'node:os'
import { commandName } from '../../cli/command-name.ts'
import { escapeControls } from '../../cli/escape.ts'
import { UsageError } from '../../cli/exit.ts'
import type { ApiClient, NewApiClient, SignInReview } from '../api/client.ts'
import { RequestFailed, hasStatus } from '../api/errors.ts'
import { type LoggedIn, ensureDeviceId, storeLogin } from './device-login.ts'
import { type LoopbackReceiver, openLoopbackReceiver } from './loopback-receiver.ts'
import { checkedSignInUrl } from './sign-in-url.ts'

type Codes = { readonly state: string; readonly exchangeCode: string }

/** How the login asks its user. */
export type Prompts = {
  /** Shows the URL to sign in at, and opens it in a browser if there is one. */
  readonly openSignInPage: (url: string) => void
  /** Asks for the code or the URL that the browser shows at the end; undefined without a terminal. */
  readonly askForCode: ((signal: AbortSignal) => Promise<string>) | undefined
  /** Shows what the sign-in will do, and asks whether to go on; undefined without a terminal. */
  readonly confirm: ((description: string) => Promise<boolean>) | undefined
}

export type CodehostLoginOptions = {
  readonly config: string
  readonly server: string
  /** The namespace of the session; default: the user's own. */
  readonly slug?: string | undefined
  /** The code of an invite, for a new user. */
  readonly inviteCode?: string | undefined
  /** Whether the browser runs on this machine, so that it can be redirected to a local port. */
  readonly isLocal: boolean
  readonly prompts: Prompts
}

/** The exchange code in pasted text, which is the code itself or the URL that contains it. */
export const parseExchangeCode = (text: string): string => {
  const trimmed = text.trim()
  return URL.parse(trimmed)?.searchParams.get('exchangeCode') ?? trimmed
}

const namespaceIdOf = async (api: ApiClient, slug: string): Promise<string> => {
  try {
    return (await api.namespace(slug.trim().toLowerCase())).id
  } catch (error) {
    if (hasStatus(error, 404)) throw new UsageError(`There is no namespace "${slug}".`)
    throw error
  }
}

const describeUser = ({ user, namespaceSlug }: SignInReview): string => {
  const name = user?.displayName ?? `user ${user?.id}`
  return escapeControls(namespaceSlug === undefined ? name : `${name} (namespace ${namespaceSlug})`)
}

/** What completing the sign-in will do, as a sentence with the account, the device and the user. */
const describeSignIn = (review: SignInReview, server: string, device: string): string => {
  const account = `your account "${escapeControls(review.account.login)}" at the code host of ${server}`
  switch (review.joining) {
    case 'known':
      return `This device (${device}) will act with ${account}, as ${describeUser(review)}.`
    case 'joins':
      return `This device (${device}) belongs to ${describeUser(review)}: ${account} will be joined to that user for good.`
    case 'new':
      return `A new user will be made, for this device (${device}) and ${account}.`
  }
}

const cannotConfirm =
  'Nobody can be asked which account this device joins: run this in a terminal, or say yes with --yes'

/** Asks the user before the sign-in is completed: a pasted code may belong to another person's account. */
const assertConfirmed = async (api: ApiClient, codes: Codes, { server, prompts }: CodehostLoginOptions) => {
  const review = await api.reviewSignIn(codes)
  if (await prompts.confirm!(describeSignIn(review, server, hostname()))) return
  throw new RequestFailed('nothing was joined, and you are not logged in')
}

/** Waits for the code from the browser's redirect and from the prompt, and returns the first one. */
const receiveCode = async (
  state: string,
  loopback: LoopbackReceiver | undefined,
  { askForCode }: Prompts,
): Promise<string> => {
  if (!loopback && !askForCode) throw new UsageError('There is no terminal to paste the code into: run this in one')
  const stop = new AbortController()
  const sources = [
    ...(loopback ? [loopback.waitForCode(state)] : []),
    ...(askForCode ? [askForCode(stop.signal).then(parseExchangeCode)] : []),
  ]
  try {
    return await Promise.race(sources)
  } finally {
    stop.abort()
  }
}

/**
 * Logs in with an account at the server's code host, in a browser. Throws UsageError without a terminal to ask in and for an
 * unknown namespace, and RequestFailed.
 */
export const logInWithCodehost = async (options: CodehostLoginOptions, newClient: NewApiClient): Promise<LoggedIn> => {
  const { config, server, slug, inviteCode, isLocal, prompts } = options
  if (!prompts.confirm) throw new UsageError(cannotConfirm)
  const [api, deviceId] = [newClient(server), await ensureDeviceId(config, server)]
  const namespace = slug === undefined ? {} : { namespaceId: await namespaceIdOf(api, slug) }
  const loopback = isLocal ? await openLoopbackReceiver() : undefined
  try {
    const redirect = loopback ? { redirectTo: loopback.url } : {}
    const invite = inviteCode === undefined ? {} : { inviteCode }
    const device = { deviceId, deviceName: hostname(), ...namespace, ...invite }
    const { state, authorizeUrl } = await api
      .startSignIn({ ...device, ...redirect })
      .catch(explainMissingCodehost(server))
    prompts.openSignInPage(checkedSignInUrl(authorizeUrl))
    const codes = { state, exchangeCode: await receiveCode(state, loopback, prompts) }
    await assertConfirmed(api, codes, options)
    return await storeLogin(config, server, deviceId, await api.completeSignIn(codes), newClient)
  } finally {
    loopback?.close()
  }
}

const explainMissingCodehost =
  (server: string) =>
  (error: unknown): never => {
    if (!hasStatus(error, 404)) throw error
    throw new RequestFailed(`${server} has no code host to sign in with: use ${commandName} login`, { status: 404 })
  }
