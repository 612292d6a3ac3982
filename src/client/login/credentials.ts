import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { digest } from '../digest.ts'
import { readJsonSync, writePrivateFile } from '../private-files.ts'
import { serverKey } from '../server-key.ts'

/**
 * What this machine knows of one service, as the file stores it. The device id is a credential too, so each service gets its own.
 * `login` is the session of `tracebook login`; `others` are sessions in other namespaces, for `sync --namespace`.
 */
export const Credentials = z.object({
  /** The address that requests go to. */
  server: z.string(),
  /** Other addresses of the service that were used before: commands for them go to `server`. */
  formerly: z.array(z.string()).optional(),
  /** The log of the service; undefined if the service does not say which one it has, or has not been asked. */
  log: z.string().optional(),
  /** See `nameOf`. */
  name: z.string().optional(),
  deviceId: z.uuid(),
  login: z
    .object({
      token: z.string(),
      userId: z.string(),
      /** The namespace in which it was active last, as far as this machine knows. */
      namespaceId: z.string(),
      namespaceSlug: z.string(),
      /** The slugs of other namespaces of which the user has been a member. */
      memberOf: z.array(z.string()).optional(),
      /**
       * The slug of the namespace that the user was removed from, where the login goes on in one of other people: nothing is uploaded there before
       * the user has chosen it.
       */
      lost: z.string().optional(),
      /** When it was made, in milliseconds since 1970. */
      at: z.number(),
    })
    .optional(),
  others: z.array(z.object({ namespaceId: z.string(), token: z.string() })),
  /** When it was logged out of, in milliseconds since 1970: it stays the server that is logged in to again. */
  leftAt: z.number().optional(),
  /** The new device id of a join that is under way, while the machine still has the one of another user. */
  joining: z.uuid().optional(),
})
export type Credentials = z.infer<typeof Credentials>

/** What names a service, and stays when a login or a device id is replaced. */
export const serviceOf = ({ server, formerly, log, name }: Credentials) => ({
  server,
  ...(formerly && { formerly }),
  ...(log !== undefined && { log }),
  ...(name !== undefined && { name }),
})

/** The folder with one file for each service, so that a token is never sent to another one. */
const credentialsDir = (config: string): string => join(config, 'servers')

const fileOf = (config: string, name: string) => join(credentialsDir(config), `${digest(name)}.json`)

/**
 * The name under which everything about a service is stored here: its log. So what was sent, what was agreed to and who watches is the same
 * at each address of the service. It is the address for a service that does not say which log it has, and for one that has the log of
 * another one, because it is a copy. It never changes, so that nothing has to be stored again.
 */
const nameOf = ({ name, server }: Pick<Credentials, 'name' | 'server'>): string => name ?? serverKey(server)

/** @throws Error for a file that another version has written, or that is damaged: it may be the only way back to a user */
const readFile = (config: string, file: string): Credentials => {
  const { data } = Credentials.safeParse(readJsonSync(file))
  if (data && file === fileOf(config, nameOf(data))) return data
  throw new Error(
    `${file} is no login that this version of tracebook can read: another version has written it, or it is damaged. ` +
      'Move it to another folder, and log in again',
  )
}

/** What is stored of all services, with a login first. @throws Error for a file that cannot be read */
export const allCredentials = (config: string): readonly Credentials[] => {
  const folder = credentialsDir(config)
  const names = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.endsWith('.json'))
  // Another process may have removed one meanwhile.
  const files = names.map((name) => join(folder, name)).filter((file) => existsSync(file))
  return files.map((file) => readFile(config, file)).toSorted((a, b) => Number(!a.login) - Number(!b.login))
}

const isAt = (server: string) => {
  const key = serverKey(server)
  return (address: string): boolean => serverKey(address) === key
}

const storedAt = (config: string, server: string): Credentials | undefined => {
  const is = isAt(server)
  return allCredentials(config).find((credentials) => is(credentials.server))
}

/** The credentials for this server, however its address is spelled; undefined without any. */
export const readCredentials = async (config: string, server: string): Promise<Credentials | undefined> => {
  const found = storedAt(config, server)
  return found && { ...found, server }
}

/** What is stored of a service that had this address before. */
export const formerlyAt = (config: string, server: string): Credentials | undefined => {
  const is = isAt(server)
  return allCredentials(config).find(({ formerly = [] }) => formerly.some(is))
}

/** Whether this machine is or was logged in, and not only about to. */
export const isUsed = ({ login, leftAt }: Credentials): boolean => login !== undefined || leftAt !== undefined

/** The address at which a service is reached now, by an address that it has or has had. */
export const presentAddress = (config: string, server: string): string => {
  const here = storedAt(config, server)
  return here && isUsed(here) ? server : (formerlyAt(config, server)?.server ?? server)
}

/**
 * The name under which everything about the service at an address is stored; also at a former one, to which a process that has begun before the
 * service moved still sends.
 */
export const nameOfServer = (config: string, server: string): string =>
  nameOf(storedAt(config, server) ?? formerlyAt(config, server) ?? { server })

export const writeCredentials = (config: string, credentials: Credentials): Promise<void> =>
  writePrivateFile(fileOf(config, nameOf(credentials)), `${JSON.stringify(credentials, null, 2)}\n`)

/** Forgets a service, and the device id for it. */
export const removeCredentials = (config: string, credentials: Credentials): Promise<void> =>
  rm(fileOf(config, nameOf(credentials)), { force: true })

/**
 * The stored credentials for a service with this log at this address; if there are none, new ones, with a new device id. They are stored
 * before anything is sent, so that a retry after a lost answer is the same device.
 */
export const ensureCredentials = async (
  config: string,
  server: string,
  log: string | undefined,
): Promise<Credentials> => {
  const is = isAt(server)
  const all = allCredentials(config)
  const stored = all.find((one) => is(one.server) && (one.log === log || one.log === undefined || log === undefined))
  if (stored && (stored.log !== undefined || log === undefined)) return { ...stored, server }
  const isFree = (name: string) => all.every((one) => nameOf(one) !== name)
  const name = [...(log === undefined ? [] : [log]), serverKey(server)].find(isFree) ?? randomUUID()
  const made = stored ?? { server, name, deviceId: randomUUID(), others: [] }
  const noted = { ...made, server, ...(log !== undefined && { log }) }
  await writeCredentials(config, noted)
  return noted
}

/** Removes the tokens for a server. The device id stays, so that the next login is one of the same user. */
export const removeLogin = async (config: string, server: string): Promise<void> => {
  const stored = await readCredentials(config, server)
  if (!stored) return
  const { deviceId } = stored
  await writeCredentials(config, { ...serviceOf(stored), deviceId, others: [], leftAt: Date.now() })
}

/** Keeps a copy of the credentials for a server, whose device id is the only way back to a user. Returns its path. */
export const setCredentialsAside = async (config: string, credentials: Credentials): Promise<string> => {
  const path = join(config, 'former-devices', `${credentials.deviceId}.json`)
  await writePrivateFile(path, `${JSON.stringify(credentials, null, 2)}\n`)
  return path
}

/**
 * The service of the first credentials is the one of the second, which is known under another address: from now on requests to it go to the
 * address of the first, with its login, and what was stored under the name of the second holds there.
 */
export const moveCredentials = async (config: string, to: Credentials, from: Credentials): Promise<void> => {
  const is = isAt(to.server)
  const formerly = [...(from.formerly ?? []), from.server].filter((address) => !is(address))
  await writeCredentials(config, { ...to, name: nameOf(from), formerly })
  if (nameOf(to) !== nameOf(from)) await removeCredentials(config, to)
}

/**
 * An address belongs to one service: those that had it before lose it. The credentials of one that has no other address are
 * kept as by `setCredentialsAside`; returns their path.
 */
export const takeAddress = async (config: string, owner: Credentials): Promise<string | undefined> => {
  const is = isAt(owner.server)
  let keptAside: string | undefined
  for (const other of allCredentials(config).filter((one) => nameOf(one) !== nameOf(owner))) {
    const formerly = (other.formerly ?? []).filter((address) => !is(address))
    if (is(other.server)) {
      if (other.login) keptAside = await setCredentialsAside(config, other)
      await removeCredentials(config, other)
    } else if (formerly.length < (other.formerly ?? []).length) await writeCredentials(config, { ...other, formerly })
  }
  return keptAside
}

type ServerLogin = { readonly server: string; readonly at: number }

/** The logins to all servers, the last one first. */
const loginsOf = (config: string): readonly ServerLogin[] =>
  allCredentials(config)
    .flatMap(({ server, login }) => (login ? [{ server, at: login.at }] : []))
    .sort((a, b) => b.at - a.at)

/** The server that was logged out of last; undefined without one. */
const serverLeftLast = (config: string): string | undefined =>
  allCredentials(config)
    .filter(({ login, leftAt }) => !login && leftAt !== undefined)
    .sort((a, b) => b.leftAt! - a.leftAt!)[0]?.server

/** The URLs of all servers with a login, the last one first. */
export const serversWithLogin = (config: string): readonly string[] => loginsOf(config).map(({ server }) => server)

/** The server of the last login; without any login the one that was logged out of last. Undefined without both. */
export const lastServer = (config: string): string | undefined => serversWithLogin(config)[0] ?? serverLeftLast(config)
