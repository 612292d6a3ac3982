import { hostname } from 'node:os'
import { commandName } from '../../cli/command-name.ts'
import { UsageError } from '../../cli/exit.ts'
import { type ApiClient, type NewApiClient, NoNamespace } from '../api/client.ts'
import { hasStatus } from '../api/errors.ts'
import { serverKey } from '../server-key.ts'
import { type Credentials, serversWithLogin, readCredentials, writeCredentials } from './credentials.ts'
import { followNamespace, rememberMembership, type TellLoss, wasIn } from './membership.ts'
import { NamespaceLost, noLongerIn } from './namespace-lost.ts'

/** `slug` is the namespace; default: that of the login. With `readOnly` no session is started in it. */
type ConnectOptions = {
  readonly config: string
  readonly server: string
  readonly slug?: string | undefined
  readonly readOnly: boolean
  /** Without it nothing is told, as for a command that is about another namespace than that of the login. */
  readonly tellLoss?: TellLoss | undefined
  /** The position of the last write that the service has acknowledged; empty if there is none. */
  readonly lastWrite?: string
}

/** An authenticated client whose active namespace receives the traces, and the token that it uses. */
export type Connection = {
  readonly api: ApiClient
  readonly token: string
  readonly namespaceId: string
  readonly namespaceSlug: string
  /** The namespace in which the session of the token is active: another one where the connection only reads. */
  readonly activeId: string
  /** See `Credentials`. */
  readonly lost?: string | undefined
  /** The log of the service: another one has other traces. Undefined if the service does not say. */
  readonly logId?: string | undefined
  /** Whether the service still has the last write; undefined if it was not asked. */
  readonly holds?: boolean | undefined
}

/** The credentials of a login. @throws UsageError without one, which says how to log in */
export const requireLogin = async (
  config: string,
  server: string,
): Promise<Credentials & { readonly login: NonNullable<Credentials['login']> }> => {
  const stored = await readCredentials(config, server)
  if (!stored?.login) throw notLoggedInError(config, server)
  return { ...stored, login: stored.login }
}

export const notLoggedInError = (config: string, server: string): UsageError => {
  const others = serversWithLogin(config).filter((other) => serverKey(other) !== serverKey(server))
  const hint = others.length > 0 ? ` You are logged in to ${others.join(' and ')}: choose with --server.` : ''
  return new UsageError(
    `Not logged in to ${server}. Run: ${commandName} login --server ${server}${hint && `\n${hint.trim()}`}`,
  )
}

export const sessionHasEnded = (server: string): UsageError =>
  new UsageError(`Your session at ${server} has ended. Log in again: ${commandName} login --server ${server}`)

/** Turns a 401, for a session that has ended, into a UsageError that says how to log in again. */
export const explainEndedSession = async <T>(server: string, request: Promise<T>): Promise<T> => {
  try {
    return await request
  } catch (error) {
    if (!hasStatus(error, 401)) throw error
    throw sessionHasEnded(server)
  }
}

/** `isOwn`: whether the namespace is that of the user, and not one of a team or of another person. */
type Opened = Connection & { readonly isOwn: boolean }

const connectionOf = async (
  newClient: NewApiClient,
  server: string,
  token: string,
  lastWrite: string | undefined,
): Promise<Opened> => {
  const api = newClient(server, token)
  const { session, namespace, logId, holds } = await api.session(lastWrite)
  const { namespaceId, namespaceSlug } = session
  // Without a write there is none that the service could have lost.
  return {
    api,
    token,
    namespaceId,
    namespaceSlug,
    activeId: namespaceId,
    isOwn: namespace?.type !== 'org' && namespace?.role !== 'member',
    logId,
    holds: holds === undefined ? holds : holds || lastWrite === '',
  }
}

// A login with a code host may belong to another user than the device's own.
const deviceOfOtherUser = (server: string, slug: string) =>
  `This device belongs to another user. Run: ${commandName} login --codehost --namespace ${slug} --server ${server}`

/**
 * Connects with a stored session of the namespace, or starts one. The login's session is not switched to the namespace,
 * because other processes use it at the same time.
 */
const connectInNamespace = async (
  config: string,
  stored: Credentials,
  { logId, holds }: Connection,
  wanted: { id: string; slug: string },
  newClient: NewApiClient,
) => {
  const { server, deviceId } = stored
  const previous = stored.others.find(({ namespaceId }) => namespaceId === wanted.id)
  if (previous) {
    const connection = await connectionOf(newClient, server, previous.token, undefined).catch((error: unknown) => {
      if (!hasStatus(error, 401)) throw error
      return undefined
    })
    if (connection?.namespaceId === wanted.id) return { ...connection, holds }
  }
  const session = await newClient(server).newSession({ deviceId, deviceName: hostname(), namespaceId: wanted.id })
  if (session.userId !== stored.login?.userId) throw new UsageError(deviceOfOtherUser(server, wanted.slug))
  const others = stored.others.filter(({ namespaceId }) => namespaceId !== wanted.id)
  await writeCredentials(config, { ...stored, others: [...others, { namespaceId: wanted.id, token: session.token }] })
  const { token, namespaceId, namespaceSlug } = session
  return { api: newClient(server, token), token, namespaceId, namespaceSlug, activeId: namespaceId, logId, holds }
}

/** Notes the log of a service that an earlier version has logged in to: so it is recognised at another address, also when this one is gone. */
const noteLog = async (config: string, server: string, newClient: NewApiClient): Promise<void> => {
  const said = await newClient(server)
    .service()
    .catch(() => undefined)
  const stored = said && (await readCredentials(config, server))
  if (stored) await writeCredentials(config, { ...stored, log: said.log })
}

/** @throws UsageError if the login goes on in a namespace of other people, because its user was removed from the one that was chosen */
export const requireChosen = ({ lost, namespaceSlug }: Connection): void => {
  if (lost === undefined) return
  throw new UsageError(
    `${noLongerIn(lost)}, and nothing is uploaded to @${namespaceSlug}, which others read, before you have chosen it. Run: ` +
      `${commandName} switch ${namespaceSlug}`,
  )
}

const notMember = (slug: string): UsageError =>
  new UsageError(`You are not a member of the namespace "${slug}". Ask one of its admins for an invite.`)

/** Says from which namespace a user was removed who is in none any more. */
const explainNone =
  ({ namespaceSlug }: NonNullable<Credentials['login']>) =>
  (error: unknown): never => {
    if (!(error instanceof NoNamespace)) throw error
    throw new NoNamespace(`${noLongerIn(namespaceSlug)}, and ${error.message}`)
  }

/**
 * Connects as the stored login, in its active namespace or in the one named `slug`; the login's active namespace does not
 * change. Throws UsageError without a valid login or without access to the namespace, and RequestFailed.
 */
export const connect = async (
  { config, server, slug, readOnly, tellLoss, lastWrite }: ConnectOptions,
  newClient: NewApiClient,
): Promise<Connection> => {
  const known = await requireLogin(config, server)
  const { login } = known
  const opening = connectionOf(newClient, server, login.token, lastWrite)
  const { isOwn, ...connection } = await explainEndedSession(server, opening).catch(explainNone(login))
  if (known.log === undefined && !readOnly) await noteLog(config, server, newClient)
  const name = slug?.trim().toLowerCase()
  if (name === undefined) {
    if (!tellLoss) return connection
    const { namespaceId: id, namespaceSlug, api } = connection
    const lost = await followNamespace(config, { server, login }, api, { id, slug: namespaceSlug, isOwn }, tellLoss)
    return { ...connection, lost }
  }
  if (name === connection.namespaceSlug) return connection
  try {
    const wanted = await connection.api.namespace(name)
    if (wanted.role === undefined) throw wasIn(login, name) ? new NamespaceLost(name) : notMember(name)
    if (readOnly) return { ...connection, namespaceId: wanted.id, namespaceSlug: wanted.slug }
    const stored = await requireLogin(config, server)
    const connected = await connectInNamespace(config, stored, connection, { id: wanted.id, slug: name }, newClient)
    await rememberMembership(config, server, name)
    return connected
  } catch (error) {
    if (hasStatus(error, 404) && wasIn(login, name)) throw new NamespaceLost(name)
    if (hasStatus(error, 404)) throw new UsageError(`There is no namespace "${name}" at ${server}.`)
    if (hasStatus(error, 403)) throw new UsageError(`This device may not use the namespace "${name}": ${error.message}`)
    throw error
  }
}
