import { hostname } from 'node:os'
import open from 'open'
import { askLine, askToConfirm } from '../../cli/ask.ts'
import { commandName } from '../../cli/command-name.ts'
import { escapeControls } from '../../base/escape.ts'
import { UsageError } from '../../cli/exit.ts'
import { io } from '../../cli/io.ts'
import { sayLines } from '../../cli/output.ts'
import type { ApiClient, NewApiClient, SignInReview } from '../api/client.ts'
import { hasStatus, RequestFailed } from '../api/errors.ts'
import { isLoopback } from '../../base/loopback.ts'
import { ensureCredentials } from './credentials.ts'
import { type LoggedIn, storeLogin } from './device-login.ts'
import { type LoopbackReceiver, openLoopbackReceiver } from './loopback-receiver.ts'
import type { NewPerson } from './new-person.ts'

const unsafeUrl = (text: string) =>
  new RequestFailed(
    `expected an address to sign in at with https://, or with http:// on this machine, and without a user name, got ${text}: it is not opened`,
  )

/**
 * The normalized URL that a server wants the browser to open, if it is safe to open: https, or http on this machine. Other
 * schemes can start programs, and other http can be read on the network. Throws RequestFailed for all others, and for a URL
 * with a user name, which can make one host look like another.
 */
export const checkedSignInUrl = (text: string): string => {
  const url = URL.parse(text)
  if (!url || url.username || url.password) throw unsafeUrl(text)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url.href
  throw unsafeUrl(text)
}

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

type CodehostLoginOptions = {
  readonly config: string
  readonly server: string
  /** The log that the server has, if it says so. */
  readonly log?: string | undefined
  /** The namespace of the session; default: the user's own. */
  readonly slug?: string | undefined
  /** The code of an invite, for a new user. */
  readonly inviteCode?: string | undefined
  /** Whether the browser runs on this machine, so that it can be redirected to a local port. */
  readonly isLocal: boolean
  readonly prompts: Prompts
  /** What a new user with this account is called. */
  readonly personOf?: (account: SignInReview['account']) => Promise<NewPerson>
}

/** The exchange code in pasted text, which is the code itself or the URL that contains it. */
export const parseExchangeCode = (text: string): string => {
  const trimmed = text.trim()
  return URL.parse(trimmed)?.searchParams.get('exchangeCode') ?? trimmed
}

const namespaceIdOf = async (api: ApiClient, server: string, slug: string): Promise<string> => {
  try {
    return (await api.namespace(slug.trim().toLowerCase())).id
  } catch (error) {
    if (hasStatus(error, 404)) throw new UsageError(`There is no namespace "${slug}" at ${server}.`)
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
  'The account that this device joins has to be confirmed, and there is no terminal: run this in a terminal, or use --yes'

/** @throws UsageError without a terminal to confirm on */
export const requireConfirm = ({ confirm }: Prompts): void => {
  if (!confirm) throw new UsageError(cannotConfirm)
}

/**
 * Asks the user before the sign-in is completed: a pasted code may belong to another person's account. Returns what a new user is called.
 */
const confirmed = async (
  api: ApiClient,
  codes: Codes,
  { server, prompts, personOf }: CodehostLoginOptions,
): Promise<NewPerson> => {
  const review = await api.reviewSignIn(codes)
  if (!(await prompts.confirm!(describeSignIn(review, server, hostname()))))
    throw new RequestFailed('nothing was joined, and you are not logged in')
  return review.joining === 'new' && personOf ? personOf(review.account) : {}
}

/** Waits for the code from the browser's redirect and from the prompt, and returns the first one. */
const receiveCode = async (
  state: string,
  loopback: LoopbackReceiver | undefined,
  { askForCode }: Prompts,
): Promise<string> => {
  if (!loopback && !askForCode)
    throw new UsageError('There is no terminal to paste the code into: run this command in a terminal')
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
  requireConfirm(prompts)
  const [api, credentials] = [newClient(server), await ensureCredentials(config, server, options.log)]
  const namespace = slug === undefined ? {} : { namespaceId: await namespaceIdOf(api, server, slug) }
  const loopback = isLocal ? await openLoopbackReceiver() : undefined
  try {
    const redirect = loopback ? { redirectTo: loopback.url } : {}
    const invite = inviteCode === undefined ? {} : { inviteCode }
    const device = { deviceId: credentials.deviceId, deviceName: hostname(), ...namespace, ...invite }
    const { state, authorizeUrl } = await api
      .startSignIn({ ...device, ...redirect })
      .catch(explainMissingCodehost(server))
    prompts.openSignInPage(checkedSignInUrl(authorizeUrl))
    const codes = { state, exchangeCode: await receiveCode(state, loopback, prompts) }
    const person = await confirmed(api, codes, options)
    return await storeLogin(config, credentials, await api.completeSignIn({ ...codes, ...person }), newClient)
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

/** Used when the user has confirmed in advance, with `--yes`. */
const sayAndConfirm = async (description: string): Promise<boolean> => {
  sayLines(description)
  return true
}

type Options = { readonly opensBrowser: boolean; readonly assumeYes: boolean }

/**
 * Prompts on the terminal that the command runs in. Without a terminal there are none, except that the code is read from
 * standard input when no browser is opened. `assumeYes` confirms without asking.
 */
export const newTerminalPrompts = ({ opensBrowser, assumeYes }: Options): Prompts => ({
  openSignInPage: (url) => {
    sayLines(`Sign in at this address:\n\n  ${url}\n`)
    if (!opensBrowser) return
    // It is not an error if no browser opens: the address was printed before.
    open(url).then(
      (child) => child.once('error', () => {}),
      () => {},
    )
  },
  askForCode:
    io().stdin.isTTY || !opensBrowser ? (signal) => askLine('Code: ', 'no code was given', signal) : undefined,
  confirm: assumeYes ? sayAndConfirm : io().stdin.isTTY ? askToConfirm : undefined,
})
