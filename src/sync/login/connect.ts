import { hostname } from 'node:os'
import { command } from '../../cli/command-name.ts'
import type { Api } from '../api/client.ts'
import { type Credentials, knownServers, readCredentials, writeCredentials } from './credentials.ts'
import { UsageError } from '../../cli/exit.ts'
import { hasStatus } from '../api/errors.ts'

type NewApi = (server: string, token?: string) => Api

/** `slug`: the namespace, the login's own without it. `readOnly`: make no session for it, for there will be no writes. */
type Where = {
  readonly config: string
  readonly server: string
  readonly slug?: string | undefined
  readonly readOnly: boolean
}

/** The service, seen from one namespace: traces are written into it. */
export type Connection = { readonly api: Api; readonly namespaceId: string; readonly namespaceSlug: string }

const notLoggedIn = async (config: string, server: string): Promise<UsageError> => {
  const others = (await knownServers(config)).filter((other) => other !== server)
  const hint = others.length > 0 ? ` You are logged in to ${others.join(' and ')}: choose with --server.` : ''
  return new UsageError(
    `Not logged in to ${server}. Run: ${command} login --server ${server}${hint && `\n${hint.trim()}`}`,
  )
}

/** Runs `request`; a token that is no longer taken becomes a UsageError that says what to do. */
const orLogIn = async <T>(server: string, request: Promise<T>): Promise<T> => {
  try {
    return await request
  } catch (error) {
    if (!hasStatus(error, 401)) throw error
    throw new UsageError(`Your session at ${server} has ended. Log in again: ${command} login --server ${server}`)
  }
}

const seenFrom = async (api: Api): Promise<Connection> => {
  const { namespaceId, namespaceSlug } = (await api.session()).session
  return { api, namespaceId, namespaceSlug }
}

// Who signed in with the code host need not be the user of this device.
const otherUser = (server: string, slug: string) =>
  `This device belongs to another user. Run: ${command} login --codehost --namespace ${slug} --server ${server}`

/** A session of its own in the namespace: switching the login's would move it under every other program's feet. */
const joined = async (config: string, stored: Credentials, wanted: { id: string; slug: string }, newApi: NewApi) => {
  const { server, deviceId } = stored
  const kept = stored.others.find(({ namespaceId }) => namespaceId === wanted.id)
  if (kept) {
    const connection = await seenFrom(newApi(server, kept.token)).catch((error: unknown) => {
      if (!hasStatus(error, 401)) throw error
      return undefined
    })
    if (connection?.namespaceId === wanted.id) return connection
  }
  const made = await newApi(server).newSession({ deviceId, deviceName: hostname(), namespaceId: wanted.id })
  if (made.userId !== stored.login?.userId) throw new UsageError(otherUser(server, wanted.slug))
  const others = stored.others.filter(({ namespaceId }) => namespaceId !== wanted.id)
  await writeCredentials(config, { ...stored, others: [...others, { namespaceId: wanted.id, token: made.token }] })
  return { api: newApi(server, made.token), namespaceId: made.namespaceId, namespaceSlug: made.namespaceSlug }
}

/**
 * Connects as the stored login, in its active namespace or in the one named `slug`; the login's own active namespace stays
 * as it is. Throws UsageError when nobody is logged in or `slug` is not the user's, and RequestFailed.
 */
export const connect = async ({ config, server, slug, readOnly }: Where, newApi: NewApi): Promise<Connection> => {
  const stored = await readCredentials(config, server)
  if (!stored?.login) throw await notLoggedIn(config, server)
  const connection = await orLogIn(server, seenFrom(newApi(server, stored.login.token)))
  const name = slug?.trim().toLowerCase()
  if (name === undefined || name === connection.namespaceSlug) return connection
  try {
    const wanted = await connection.api.namespace(name)
    if (wanted.role === undefined) throw new UsageError(`You are no member of the namespace "${name}".`)
    if (readOnly) return { ...connection, namespaceId: wanted.id, namespaceSlug: wanted.slug }
    return await joined(config, stored, { id: wanted.id, slug: name }, newApi)
  } catch (error) {
    if (hasStatus(error, 404)) throw new UsageError(`There is no namespace "${name}" at ${server}.`)
    if (hasStatus(error, 403)) throw new UsageError(`This device may not use the namespace "${name}": ${error.message}`)
    throw error
  }
}
