import { existsSync, readdirSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { digest } from '../digest.ts'
import { readJson, readJsonSync, writePrivateFile } from '../private-files.ts'
import { serverKey, spellingsOf } from '../server-key.ts'

/**
 * The credentials for one server, as the file stores them. The device id is a credential too, so each server gets its own.
 * `login` is the session of `tracebook login`; `others` are sessions in other namespaces, for `sync --namespace`.
 */
export const Credentials = z.object({
  server: z.string(),
  deviceId: z.uuid(),
  login: z
    .object({
      token: z.string(),
      userId: z.string(),
      namespaceId: z.string(),
      namespaceSlug: z.string(),
      /** When it was made, in milliseconds since 1970; undefined for logins of older versions. */
      at: z.number().optional(),
    })
    .optional(),
  others: z.array(z.object({ namespaceId: z.string(), token: z.string() })),
  /** When it was logged out of, in milliseconds since 1970: it stays the server that is logged in to again. */
  leftAt: z.number().optional(),
  /** The new device id of a join that is under way, while the machine still has the one of another user. */
  joining: z.uuid().optional(),
})
export type Credentials = z.infer<typeof Credentials>

/** The folder with one file for each server, so that a token is never sent to another server. */
const credentialsDir = (config: string): string => join(config, 'servers')

const fileOf = (config: string, spelling: string) => join(credentialsDir(config), `${digest(spelling)}.json`)

/** The credentials in the file of one spelling of a server's address; undefined when it belongs to another server. */
const readFileOf = async (config: string, spelling: string): Promise<Credentials | undefined> => {
  const { data } = Credentials.safeParse(await readJson(fileOf(config, spelling)))
  return data && serverKey(data.server) === serverKey(spelling) ? data : undefined
}

/** Takes over what an older version has stored under another spelling, a login rather than a device id alone. */
const takeOver = async (config: string, [key, ...others]: readonly [string, ...string[]]): Promise<void> => {
  const found = await Promise.all(
    others.map(async (spelling) => ({ spelling, stored: await readFileOf(config, spelling) })),
  )
  const chosen = found.find(({ stored }) => stored?.login) ?? found.find(({ stored }) => stored)
  if (!chosen) return
  await rename(fileOf(config, chosen.spelling), fileOf(config, key)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error // Another process has done it.
  })
}

/** The credentials for this server, however its address is spelled; undefined without any. */
export const readCredentials = async (config: string, server: string): Promise<Credentials | undefined> => {
  const spellings = spellingsOf(server)
  if (!(await readFileOf(config, spellings[0]))) await takeOver(config, spellings)
  const found = await readFileOf(config, spellings[0])
  return found && { ...found, server }
}

export const writeCredentials = (config: string, credentials: Credentials): Promise<void> =>
  writePrivateFile(fileOf(config, serverKey(credentials.server)), `${JSON.stringify(credentials, null, 2)}\n`)

/** Removes the tokens for a server. The device id stays, so that the next login is one of the same user. */
export const removeLogin = async (config: string, server: string): Promise<void> => {
  const stored = await readCredentials(config, server)
  if (stored) await writeCredentials(config, { server, deviceId: stored.deviceId, others: [], leftAt: Date.now() })
}

/** Keeps a copy of the credentials for a server, whose device id is the only way back to a user. Returns its path. */
export const setCredentialsAside = async (config: string, credentials: Credentials): Promise<string> => {
  const path = join(config, 'former-devices', `${credentials.deviceId}.json`)
  await writePrivateFile(path, `${JSON.stringify(credentials, null, 2)}\n`)
  return path
}

type ServerLogin = { readonly server: string; readonly at: number | undefined }

/** What is stored of all servers. */
const allCredentials = (config: string): readonly Credentials[] => {
  const folder = credentialsDir(config)
  const names = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.endsWith('.json'))
  return names.flatMap((name) => {
    const { data } = Credentials.safeParse(readJsonSync(join(folder, name)))
    if (!data) return []
    // A file under another spelling that could not be taken over is not read either.
    const first = basename(fileOf(config, serverKey(data.server)))
    return name === first || !names.includes(first) ? [data] : []
  })
}

/** The logins to all servers, the last one first. */
const loginsOf = (config: string): readonly ServerLogin[] =>
  allCredentials(config)
    .flatMap(({ server, login }) => (login ? [{ server, at: login.at }] : []))
    .sort((a, b) => (b.at ?? 0) - (a.at ?? 0))

/** The server that was logged out of last; undefined without one. */
const serverLeftLast = (config: string): string | undefined =>
  allCredentials(config)
    .filter(({ login, leftAt }) => !login && leftAt !== undefined)
    .sort((a, b) => b.leftAt! - a.leftAt!)[0]?.server

/** The URLs of all servers with a login, the last one first. */
export const serversWithLogin = (config: string): readonly string[] => loginsOf(config).map(({ server }) => server)

/**
 * The server of the last login; without any login the one that was logged out of last. Undefined without both, and where an older
 * version has stored several logins.
 */
export const lastServer = (config: string): string | undefined => {
  const [last, ...others] = loginsOf(config)
  if (!last) return serverLeftLast(config)
  return last.at !== undefined || others.length === 0 ? last.server : undefined
}
